#!/usr/bin/env python3
"""against_interpreter.py FOLDER: gradients of compiled bf16 programs.

Held against the interpreter, which rounds wherever the program does: what is
left is the order of summation, and where it tips a rounding a unit of bf16. For
comparison the distance to the gradients in float64.
"""
import itertools
import json
import math
import random
import re
import struct
import subprocess
import sys

import runs

folder = sys.argv[1]
configs = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 96, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 2,
             "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "initializer_range": 0.1},
    "llama": {"model_type": "llama", "vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48, "initializer_range": 0.1},
}
batch, seq, vocabulary = 4, 16, 96


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, (kind, shape, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def read_floats(data):
    size, = struct.unpack("<Q", data[:8])
    out = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + at for at in entry["data_offsets"])
            out[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return out


def read_params(path):
    """Parameter -> stored name, its shape, the view's shape and its map."""
    with open(path) as f:
        text = f.read()
    maps = dict(re.findall(r"^#(map\d*) = affine_map<(.*)>$", text, re.M))
    out = {}
    for name, shape, stored, stored_shape, view in re.findall(
            r'dtc\.param @(\w+) : !dtc\.tensor<([^>]*)x\w+> from "([^"]*)" \[([^\]]*)\] view (?:#(map\d*))', text):
        shape = [int(n) for n in re.findall(r"(\d+)(?:\{[^}]*\})?(?:x|$)", shape)]
        out[name] = (stored, [int(n) for n in stored_shape.split(",")], shape, maps[view])
    return out


def interpret(step, params, *flags):
    """Gradients by stored name."""
    run = subprocess.run(["dtc-interpret", step, "--weights", f"{folder}/weights.safetensors", "--batches",
                          f"{folder}/batches.safetensors", "--print", *flags], check=True, capture_output=True,
                         text=True)
    out = {}
    for block in re.split(r"^(?=\w)", run.stdout, flags=re.M):
        head, _, numbers = block.partition("\n")
        match = re.match(r"grad of @(\w+) :", head)
        if not match:
            continue
        stored, stored_shape, shape, view = params[match.group(1)]
        arguments, results = re.match(r"\((.*)\) -> \((.*)\)", view).groups()
        function = eval(f"lambda {arguments}: ({results},)")  # an affine map is an expression
        whole = out.setdefault(stored.removeprefix("transformer."), [0.0] * math.prod(stored_shape))
        values = map(float, numbers.split())
        for index in itertools.product(*map(range, shape)):
            at = 0
            for n, i in zip(stored_shape, function(*index)):
                at = at * n + i
            whole[at] = next(values)
    return out


def distance(got, want):
    """The largest relative distance of a tensor, where one is no rounding."""
    worst = 0
    largest = max(math.hypot(*x) for x in want.values())
    for name, x in want.items():
        size = max(math.hypot(*x), 1e-3 * largest)
        worst = max(worst, math.dist(got[name], x) / size)
    return worst


random.seed(5)
for kind, config in configs.items():
    model = runs.make_model(folder, config, batch=batch, seq=seq)
    ids = [random.randrange(vocabulary) for _ in range(batch * seq + 1)]
    write_safetensors(f"{folder}/batches.safetensors", {
        name: ("I32", [1, batch, seq], struct.pack(f"<{batch * seq}i", *words))
        for name, words in (("input_ids", ids[:-1]), ("labels", ids[1:]))})
    data = ("--batches", f"{folder}/batches.safetensors")
    first = runs.train(runs.compile_model(model, f"{folder}/f32"), *data, steps=1)
    with open(f"{folder}/weights.safetensors", "wb") as f:
        f.write(first["weights"])
    for flags in ["", "--mesh dp=2,tp=2 --zero 2", "--mesh dp=2 --microbatches 2",
                  "--mesh cp=2,tp=2 --sequence-parallel --grad-dtype f32"]:
        flags = ["--precision", "bf16", *flags.split()]
        program = runs.compile_model(model, f"{folder}/train", *flags)
        got = read_floats(runs.train(program, *data, "--weights", f"{folder}/weights.safetensors", steps=1)["grads"])
        step = f"{folder}/step.mlir"
        subprocess.run(["dtc-compile", model, *flags, "--emit", "mlir", "-o", step], check=True)
        params = read_params(step)
        near = distance(got, interpret(step, params))
        far = distance(got, interpret(step, params, "--exact"))
        print(f"{kind} {' '.join(flags[2:])}: {near:.1e} from the interpreter, {far:.1e} from float64")
        if not (near < 6e-3 and 2 * near < far < 6e-2):
            sys.exit("too far, or not rounded")
