#!/usr/bin/env python3
"""zero_accumulation.py FOLDER MESH...: the stages of ZeRO with four micro-batches.

Gradients of the first step and the updates of three steps, tensor by tensor,
each stage against each other, relative to the tensor's largest element. Adam's
epsilon is large, so that an update is as exact as its gradient. Neither
vocabulary nor MLP width divide by the ranks; the MLP's bias is cut by tp into
pieces that the data-parallel group does not divide.
"""
import array
import itertools
import json
import struct
import sys

import runs

folder, meshes = sys.argv[1], sys.argv[2:]
config = {"model_type": "gpt2", "vocab_size": 259, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 4,
          "n_inner": 50, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
model = runs.make_model(folder, config, batch=16, seq=16)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(97 + i * i % 23 for i in range(9000)))


def configure(lr):
    path = f"{folder}/lr={lr}.json"
    with open(path, "w") as f:
        json.dump({"lr": lr, "betas": [0.9, 0.95], "eps": 1e-2, "weight_decay": 0.1 * (lr > 0), "grad_clip": 1.0,
                   "steps": 3, "batch": 16, "seq": 16}, f)
    return path


def tensors(data):
    (n,) = struct.unpack("<Q", data[:8])
    out = {}
    for name, t in json.loads(data[8:8 + n]).items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            out[name] = array.array("f", data[8 + n + begin:8 + n + end])
    return out


def train(flags, lr):
    program = runs.compile_model(model, f"{folder}/train", *flags)
    result = runs.train(program, "--text", f"{folder}/text", "--config", configure(lr))
    return {kind: tensors(result[kind]) for kind in ("grads", "weights")}


def difference(a, b, scale):
    """The largest, relative to each tensor's scale, but at least to a thousandth
    of the largest: the gradient of a key's bias is zero up to rounding."""
    assert a.keys() == b.keys() == scale.keys()
    least = max(scale.values()) / 1000
    return max(max(abs(x - y) for x, y in zip(a[n], b[n])) / max(scale[n], least) for n in a)


begin = train([], 0.0)["weights"]
bad = 0
for mesh in meshes:
    stages = {zero: train(["--mesh", mesh, "--microbatches", "4", "--zero", *zero.split()], 1e-2)
              for zero in ("0", "1", "2", "3", "3 --zero3-reshard step")}
    for (one, a), (other, b) in itertools.combinations(stages.items(), 2):
        gradient = {n: max(map(abs, t)) for n, t in a["grads"].items()}
        update = {n: max(abs(x - y) for x, y in zip(t, begin[n])) for n, t in a["weights"].items()}
        assert all(x > 0 for x in update.values()), update
        worst = [difference(a["grads"], b["grads"], gradient), difference(a["weights"], b["weights"], update)]
        agrees = worst[0] < 2e-5 and worst[1] < 2e-4
        bad += not agrees
        print(f"{mesh}: {one} and {other}: " + ("agree" if agrees else f"off by {worst}"))
sys.exit(bad > 0)
