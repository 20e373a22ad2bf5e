#!/usr/bin/env python3
"""state_bytes.py FOLDER: bytes of training state for each parameter, as planned.

Every tensor's bytes are a multiple of the arena's alignment, so nothing is
padding. There is no table that is looked up before the loop over micro-batches,
whose sum there would be one of activations. Then the state for four
micro-batches on N = 4 ranks, less the formula of each stage of ZeRO.
"""
import re
import subprocess
import sys
from math import prod

import runs

folder = sys.argv[1]
config = {"model_type": "llama", "vocab_size": 256, "max_position_embeddings": 32, "hidden_size": 128,
          "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 2,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False}
model = runs.make_model(folder, config, batch=16, seq=32)
with open(model) as f:
    shapes = re.findall(r"dtc\.param @\w+ : !dtc\.tensor<([0-9x]+)xf32>", f.read())
count = sum(prod(map(int, shape.split("x"))) for shape in shapes)
assert len(shapes) == 30 and all(prod(map(int, s.split("x"))) % 128 == 0 for s in shapes), shapes


def plan(flags):
    text = subprocess.run(["dtc-plan", "memory", model, "--mesh", "dp=4", *flags.split()], check=True,
                          capture_output=True, text=True).stdout
    return {name: int(n) / count for name, n in re.findall(r"^  (\S.*?)  +(\d+)$", text, re.M)}


state = ("parameters", "gradients", "optimizer state")
stages = [f"--precision bf16 --zero {z} --grad-dtype {g}" for g in ("bf16", "f32") for z in (1, 2, 3)]
for flags in [*stages, "", "--precision bf16", "--precision bf16 --grad-dtype f32", "--precision bf16 --microbatches 2",
              "--precision bf16 --microbatches 2 --grad-dtype bf16"]:
    terms = [plan(flags)[name] for name in state]
    print(f"{flags or 'f32'}: {' + '.join(f'{t:g}' for t in terms)} = {sum(terms):g}")

# Parameter, gradient and what the optimizer has.
for name, p, g, o in (("--precision bf16 --grad-dtype bf16", 2, 2, 12), ("--precision bf16 --grad-dtype f32", 2, 4, 12),
                      ("--precision f32", 4, 4, 8)):
    more = []
    for zero in range(4):
        terms = plan(f"{name} --microbatches 4 --zero {zero}")
        formula = sum(bytes_ / (4 if zero >= first else 1) for bytes_, first in ((p, 3), (g, 2), (o, 1)))
        more.append(sum(terms[x] for x in state) - formula)
    print(f"{name} --microbatches 4: {', '.join(f'{x:g}' for x in more)} bytes over the formula")
