"""Reads a trace and prints what a viewer would show of it."""

import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
names = {
    (e["name"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M"
}
print(names[("process_name", 0)])
threads = sorted((t, n) for (kind, t), n in names.items() if kind == "thread_name")
print("threads", ", ".join(f"{t} {n}" for t, n in threads))
for tid, name in threads:
    blocks = [e for e in events if e["ph"] == "X" and e["tid"] == tid]
    if blocks:
        print(name + ":", ", ".join(f"{e['name']} {e['ts']:g}+{e['dur']:g}" for e in blocks))
one = next(e for e in events if e["name"] == "F1" and e["tid"] == 2)
print("F1 on rank 1:", one["cat"], one["args"])
for begin in events:
    if begin["ph"] == "b":
        (end,) = [e for e in events if e["ph"] == "e" and e["id"] == begin["id"]]
        assert end["name"] == begin["name"] and end["cat"] == begin["cat"]
        print(begin["name"], begin["cat"], f"{begin['ts']:g} {end['ts']:g}",
              "to rank", begin["args"]["to_rank"])
counts = [e for e in events if e["ph"] == "C" and e["name"] == "rank 0 bytes"]
print("rank 0 bytes:", ", ".join(f"{e['ts']:g} {e['args']['bytes']}" for e in counts))
