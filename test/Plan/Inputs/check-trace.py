"""Reads a trace and prints what a viewer would show of it."""

import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
first = min(e["pid"] for e in events)


def names(kind, pid):
    return [e["args"]["name"] for e in events if e["name"] == kind and e["pid"] == pid]


for pid in sorted({e["pid"] for e in events}):
    print(*names("process_name", pid), end=": ")
    print(", ".join(names("thread_name", pid)))
    blocks = [e for e in events if e["ph"] == "X" and e["pid"] == pid]
    assert all(e["tid"] == 0 for e in blocks)
    print(", ".join(f"{e['name']} {e['ts']:g}+{e['dur']:g}" for e in blocks))
one = next(e for e in events if e["name"] == "F1" and e["pid"] == first + 1)
print("F1 on rank 1:", one["cat"], one["args"])
for begin in events:
    if begin["ph"] == "b":
        (end,) = [e for e in events if e["ph"] == "e" and e["id"] == begin["id"]]
        assert end["name"] == begin["name"] and end["cat"] == begin["cat"] == "message"
        assert begin["tid"] == 1 and begin["pid"] == first + begin["args"]["to_rank"]
        print(begin["name"], f"of {begin['args']['micro_batch']}:",
              f"{begin['ts']:g} to {end['ts']:g} on rank {begin['args']['to_rank']}")
counts = [e for e in events if e["ph"] == "C" and e["pid"] == first]
print(counts[0]["name"], "of rank 0:",
      ", ".join(f"{e['ts']:g} {e['args']['bytes']}" for e in counts))
