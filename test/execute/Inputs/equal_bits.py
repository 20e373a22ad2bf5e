#!/usr/bin/env python3
"""equal_bits.py FOLDER MESHES [LAUNCHER]: what must not change a bit.

Losses, gradients and weights of one model on one mesh, in any number of OpenMP
threads and bucket size, with and without overlap, in every stage of ZeRO, from
run to run, and, where a launcher is given, in processes. The model is large enough that kernels and
reductions are shared by threads; the text has few distinct bytes, so that rows
of the embedding's gradient are sums of many tokens.
"""
import sys

import runs

folder, chosen, launcher = sys.argv[1], sys.argv[2].split(), " ".join(sys.argv[3:])
config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, "n_embd": 64, "n_layer": 2, "n_head": 4}
model = runs.make_model(folder, config, batch=8, seq=64)
text = f"{folder}/text"
with open(text, "wb") as f:
    f.write(bytes(97 + i * i % 7 + i // 5 % 3 for i in range(6000)))

bad = 0


def compare(what, reference, other):
    global bad
    differs = [kind for kind in reference if reference[kind] != other[kind]]
    print(f"{what}: {'equal' if not differs else 'differs in ' + ', '.join(differs)}")
    bad += bool(differs)


def train(program, threads, launcher=""):
    return runs.train(program, "--threads", str(threads), "--text", text, launcher=launcher)


meshes = {
    "dp=1": [[]],
    # Which rank keeps what changes no sum, with one micro-batch.
    "zero": [["--mesh", "dp=4"]] + [["--mesh", "dp=4", "--zero", z, *more]
                                    for z, *more in (["1"], ["2"], ["3"], ["3", "--zero3-reshard", "step"],
                                                     ["3", "--overlap", "off"], ["2", "--bucket-bytes", "4096"])],
    # What is computed again is the same, dropout included.
    "recompute": [["--mesh", "dp=2,tp=2", "--microbatches", "2", "--sequence-parallel", "--recompute", r]
                  for r in ("none", "selective", "full")],
    "recompute-zero": [["--mesh", "dp=2,tp=2", "--microbatches", "2", "--zero", "3", *more]
                       for more in ([], ["--recompute=selective"], ["--recompute=full"],
                                    ["--recompute=full", "--overlap=off"])],
    "recompute-pipeline": [["--mesh", "pp=2,cp=2", "--microbatches", "4", "--schedule", schedule, "--recompute", r]
                           for schedule in ("zb-h1",) for r in ("none", "selective", "full")],
    "bf16": [["--mesh", "dp=2,tp=2", "--precision", "bf16", *more]
             for more in ([], ["--bucket-bytes", "4096"], ["--overlap", "off"], ["--zero", "1"], ["--zero", "3"],
                          ["--recompute", "selective"], ["--recompute", "full"])],
    "dp=4": [[], ["--bucket-bytes", "4096"], ["--bucket-bytes", "65536"], ["--overlap", "off"]],
    "dp=2,tp=2": [["--microbatches", "2"], ["--microbatches", "2", "--overlap", "off"]],
    "cp=2,tp=2": [["--sequence-parallel"], ["--sequence-parallel", "--overlap", "off"]],
}
for mesh in chosen:
    reference = None
    for flags in meshes[mesh]:
        if "--mesh" not in flags:
            flags = ["--mesh", mesh, *flags]
        program = runs.compile_model(model, f"{folder}/train", *flags)
        name = " ".join(flags[1:])
        if launcher:
            # One variant a mesh: the other test compares them with one another.
            reference = train(program, 1)
            for threads in (1, 2):
                compare(f"{name} in processes of {threads} threads", reference,
                        train(program, threads, f"{launcher} -n 4"))
            break
        for threads in (1, 2):
            result = train(program, threads)
            if reference:
                compare(f"{name} with {threads} threads", reference, result)
            reference = reference or result
        compare(f"{name} again", reference, train(program, 1))
sys.exit(bad > 0)
