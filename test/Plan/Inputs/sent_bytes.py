#!/usr/bin/env python3
"""sent_bytes.py FOLDER: what a layer adds to the bytes that a rank sends.

Plans programs that differ in the number of layers, for each stage of ZeRO, for
1, 2 and 4 micro-batches of one size, and holds the difference against the
formulas of docs/memory.md.
"""
import json
import os
import re
import subprocess
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
hidden, wide, seq, rows = 32, 64, 16, 2
llama = {"model_type": "llama", "vocab_size": 64, "hidden_size": hidden, "num_attention_heads": 4,
         "num_key_value_heads": 4, "intermediate_size": wide}
gpt2 = {"model_type": "gpt2", "vocab_size": 64, "n_positions": seq, "n_embd": hidden, "n_head": 4, "n_inner": wide}
# Elements of a layer's parameters; of these, what a backward does not read.
elements = {"llama": (4 * hidden * hidden + 3 * hidden * wide + 2 * hidden, 0),
            "gpt2": (4 * hidden * hidden + 2 * hidden * wide + 9 * hidden + wide, 7 * hidden + wide)}


def plan(kind, layers, mesh, m, flags):
    """By group of axes: total, and of each micro-batch."""
    config = dict(llama, num_hidden_layers=layers) if kind == "llama" else dict(gpt2, n_layer=layers)
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f)
    data = int(dict(part.split("=") for part in mesh.split(",")).get("dp", 1))
    subprocess.run(["dtc-import", f"{folder}/config.json", "--batch", str(rows * data * m), "--seq", str(seq), "-o",
                    f"{folder}/model.mlir"], check=True)
    text = subprocess.run(["dtc-plan", "memory", f"{folder}/model.mlir", "--mesh", mesh, "--microbatches", str(m),
                           *flags], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^  over (.+?)  +(\d+)\n(?:    each micro-batch +(\d+))?", text, re.M)
    return {group: (int(total), int(each or 0)) for group, total, each in found}


def layer(kind, mesh, m, *flags):
    """What a layer adds: total and of each micro-batch."""
    few, many = (plan(kind, n, mesh, m, flags) for n in (2, 4))
    return {group: tuple((b - a) // 2 for a, b in zip(few[group], many[group])) for group in few}



for kind, dp in ("llama", 4), ("gpt2", 2):
    all_, unread = (4 * n * (dp - 1) // dp for n in elements[kind])
    for zero, once, each in [(["0"], 2 * all_, 0), (["1"], 2 * all_, 0), (["2"], all_, all_),
                             (["3"], 0, 3 * all_ - unread), (["3", "--zero3-reshard", "step"], all_, all_)]:
        got = [layer(kind, f"dp={dp}", m, "--zero", *zero)["dp"] for m in (1, 4)]
        want = [(once + each, 0), (once + 4 * each, each)]
        print(f"{kind}, dp={dp}, zero {' '.join(zero)}: {'as the formula says' if got == want else (got, want)}")

# An all-reduce of b s h elements four times, or as much in gathers and scatters.
for flags in ([], ["--sequence-parallel"]):
    bytes_ = 4 * 2 * 4 * rows * seq * hidden * (2 - 1) // 2
    got = layer("llama", "dp=2,tp=2", 2, "--zero", "2", *flags)["tp"][1]
    print(f"llama, tp=2 {' '.join(flags)}: {'as the formula says' if got == bytes_ else (got, bytes_)}")
