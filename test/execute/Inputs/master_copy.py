#!/usr/bin/env python3
"""master_copy.py FOLDER: what goes into the master copy and comes out of it."""
import json
import struct
import sys

import runs

folder = sys.argv[1]
config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 32, "n_embd": 32, "n_layer": 1, "n_head": 2}
model = runs.make_model(folder, config, batch=4, seq=32)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(i * i % 251 for i in range(4000)))
with open(f"{folder}/still.json", "w") as f:
    json.dump({"lr": 0.0, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1, "grad_clip": 1.0, "steps": 3,
               "batch": 4, "seq": 32}, f)


def tensors(data):
    """Name -> words of a file of F32."""
    size, = struct.unpack("<Q", data[:8])
    out = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", (name, entry)
        begin, end = (8 + size + at for at in entry["data_offsets"])
        out[name] = struct.unpack(f"<{(end - begin) // 4}I", data[begin:end])
    return out


def answer(what, yes):
    print(f"{what}: {'yes' if yes else 'no'}")


def is_bf16(words):
    return not any(word & 0xffff for word in words)


first = runs.train(runs.compile_model(model, f"{folder}/f32"), "--text", f"{folder}/text")
with open(f"{folder}/weights.safetensors", "wb") as f:
    f.write(first["weights"])
before = tensors(first["weights"])
answer("bf16 holds the weights", all(map(is_bf16, before.values())))
program = runs.compile_model(model, f"{folder}/bf16", "--precision", "bf16", "--mesh", "dp=2,tp=2")
after = runs.train(program, "--text", f"{folder}/text", "--weights", f"{folder}/weights.safetensors", "--config",
                   f"{folder}/still.json")
answer("weights after steps of size zero are those that were read", tensors(after["weights"]) == before)
answer("gradients are written as f32, with the digits of bf16", all(map(is_bf16, tensors(after["grads"]).values())))
