#!/usr/bin/env python3
"""state_bytes.py FOLDER: bytes of training state for each parameter, as planned.

Every tensor's bytes are a multiple of the arena's alignment, so nothing is
padding.
"""
import re
import subprocess
import sys
from math import prod

import runs

folder = sys.argv[1]
config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 32, "n_embd": 128, "n_layer": 2, "n_head": 2}
model = runs.make_model(folder, config, batch=8, seq=32)
with open(model) as f:
    shapes = re.findall(r"dtc\.param @\w+ : !dtc\.tensor<([0-9x]+)xf32>", f.read())
count = sum(prod(map(int, shape.split("x"))) for shape in shapes)
assert len(shapes) > 30 and all(prod(map(int, s.split("x"))) % 128 == 0 for s in shapes), shapes
stages = [f"--precision bf16 --zero {z} --grad-dtype {g}" for g in ("bf16", "f32") for z in (2, 3)]
for flags in [*stages, "", "--precision bf16", "--precision bf16 --grad-dtype f32", "--precision bf16 --microbatches 2",
              "--precision bf16 --microbatches 2 --grad-dtype bf16"]:
    plan = subprocess.run(["dtc-compile", model, "--mesh", "dp=4", *flags.split(), "--emit", "obj", "-o",
                           f"{folder}/train.o"], check=True, capture_output=True, text=True).stdout
    terms = [int(re.search(rf"{name} +(\d+)", plan).group(1)) / count
             for name in ("parameters", "gradients", "optimizer state")]
    print(f"{flags or 'f32'}: {' + '.join(f'{t:g}' for t in terms)} = {sum(terms):g}")
