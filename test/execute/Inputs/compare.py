#!/usr/bin/env python3
"""Compares training runs: compare.py REFERENCE OTHER... [--tolerance X]

Each argument is a folder with log.jsonl and grads.safetensors. Losses, gradient
norms and every gradient of the first step must agree, relative to the largest
element of each tensor.
"""
import array
import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        head = json.loads(f.read(n))
        body = f.read()
    out = {}
    for name, t in head.items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        values = array.array("f")
        values.frombytes(body[begin:end])
        out[name] = (t["shape"], values)
    return out


def steps(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f if line.strip()]
    return [r for r in rows if "loss" in r]


def main():
    args = sys.argv[1:]
    tolerance = 2e-5
    if "--tolerance" in args:
        at = args.index("--tolerance")
        tolerance = float(args[at + 1])
        del args[at : at + 2]
    reference, bad = args[0], 0
    want_log = steps(reference + "/log.jsonl")
    want = tensors(reference + "/grads.safetensors")
    for other in args[1:]:
        log = steps(other + "/log.jsonl")
        got = tensors(other + "/grads.safetensors")
        if len(log) != len(want_log) or not log:
            print(f"{other}: {len(log)} steps, expected {len(want_log)}")
            bad += 1
        for a, b in zip(want_log, log):
            for key in ("loss", "grad_norm"):
                if not abs(a[key] - b[key]) <= tolerance * abs(a[key]):
                    print(f"{other}: step {a['step']}: {key} {b[key]}, expected {a[key]}")
                    bad += 1
            if a["labels"] != b["labels"]:
                print(f"{other}: step {a['step']}: labels {b['labels']}, expected {a['labels']}")
                bad += 1
        if want.keys() != got.keys():
            print(f"{other}: tensors differ: {want.keys() ^ got.keys()}")
            bad += 1
        # Relative to the model's largest gradient: the gradient of a key's bias
        # is zero up to rounding.
        top = max(max(map(abs, v)) for _, v in want.values())
        for name in want.keys() & got.keys():
            (shape, a), (shape2, b) = want[name], got[name]
            scale = max(max(map(abs, a)), 1e-3 * top)
            worst = max(abs(x - y) for x, y in zip(a, b)) if shape == shape2 else float("inf")
            if not worst <= 10 * tolerance * scale:
                print(f"{other}: {name}: off by {worst:.2e} of {scale:.2e}")
                bad += 1
    print("agree" if not bad else f"{bad} differences")
    sys.exit(bad > 0)


main()
