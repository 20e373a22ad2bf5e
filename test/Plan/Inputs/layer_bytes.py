#!/usr/bin/env python3
"""layer_bytes.py FOLDER: how many bytes of activations each further layer keeps
by the plan, and the 64 bytes of its number, where sequence
parallelism keeps all also the 128 of its piece's positions, from which dropout
draws."""
import json
import subprocess
import sys

folder = sys.argv[1]


def activations(layers, recompute, flags):
    config = {"model_type": "gpt2", "vocab_size": 96, "n_positions": 64, "n_embd": 64, "n_layer": layers, "n_head": 4}
    with open(f"{folder}/layers.json", "w") as f:
        json.dump(config, f)
    subprocess.run(["dtc-import", f"{folder}/layers.json", "--batch", "4", "--seq", "64", "-o", f"{folder}/layers.mlir"],
                   check=True)
    report = subprocess.run(["dtc-plan", "memory", f"{folder}/layers.mlir", "--mesh", "tp=2", "--recompute", recompute,
                             *flags], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[-1]) for line in report.splitlines() if line.startswith("  activations"))


for flags in ("", "--precision bf16", "--sequence-parallel", "--sequence-parallel --sp-gather again"):
    each = [(activations(16, recompute, flags.split()) - activations(12, recompute, flags.split())) // 4 - 64
            for recompute in ("none", "selective", "full")]
    print(f"{flags or '--precision f32'}: none {each[0]}, selective {each[1]}, full {each[2]}")
