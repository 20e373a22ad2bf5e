#!/usr/bin/env python3
"""exact_memory.py FOLDER CLANG LIBRARY-FOLDERS [LAUNCHER]: what programs touch and take.

Links compiled programs with probe.cpp and trains them in a poisoned arena: the
last byte that two steps write lies in the plan's last buffer, and no code of
DTC's allocates after the first step. LIBRARY-FOLDERS: the runtime's and
OpenMP's.
"""
import os
import re
import subprocess
import sys

import runs

folder, clang, runtime, openmp = sys.argv[1:5]
launcher = sys.argv[5:]
here = os.path.dirname(os.path.abspath(__file__))
config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4}
model = runs.make_model(folder, config, batch=8, seq=32)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(i * i % 251 for i in range(8000)))
subprocess.run([clang, "-O1", "-c", f"{here}/probe.cpp", "-o", f"{folder}/probe.o"], check=True)


def numbers(pattern, text):
    """One for each coordinate on pp."""
    return [int(n) for found in re.findall(pattern, text) for n in found.split()]


def train(fault=False):
    environment = dict(os.environ, DTC_POISON_ARENA="1", PROBE_RANKS=str(ranks), **({"PROBE_FAULT": "1"} if fault else {}))
    run = subprocess.run([*launcher, *(["-n", str(ranks)] if launcher else []), f"{folder}/train", "--threads", "2",
                          "--text", f"{folder}/text", "--steps", "6", "--log", f"{folder}/log"], env=environment,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr


for mesh, ranks, flags in [("dp=1", 1, []), ("dp=2,tp=2", 4, ["--microbatches", "2"]),
                           ("tp=2", 2, ["--precision", "bf16", "--microbatches", "2"]),
                           ("dp=4", 4, ["--zero", "2", "--precision", "bf16", "--microbatches", "2"]),
                           ("dp=2,tp=2", 4, ["--zero", "3", "--recompute", "selective", "--sequence-parallel"]),
                           ("pp=2,dp=2", 4, ["--zero", "3", "--recompute", "full", "--microbatches", "4"]),
                           ("cp=2,tp=2", 4, ["--sequence-parallel"])]:
    if launcher and ranks == 1:
        continue
    compile_ = ["dtc-compile", model, "--mesh", mesh, *flags]
    subprocess.run([*compile_, "--emit=obj", "-o", f"{folder}/train.o"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*compile_, "--emit=mlir", "-o", f"{folder}/step.mlir"], check=True)
    report = subprocess.run(["dtc-opt", f"{folder}/step.mlir", "-dtc-lower-to-runtime", "-dtc-overlap",
                             "-dtc-plan-memory=memory-report=true", "-o", "/dev/null"], check=True,
                            capture_output=True, text=True).stderr
    arenas = numbers(r"arena of a rank +([\d ]+)", report)
    lasts = numbers(r"last buffer begins at (\d+)", report)
    assert len(arenas) == len(lasts) and all(0 < last < arena for last, arena in zip(lasts, arenas)), report
    subprocess.run([clang, f"{folder}/train.o", f"{folder}/probe.o", f"{runtime}/libDTCRuntime.a", "-L" + openmp,
                    "-lomp", "-Wl,-rpath," + openmp, "-Wl,--wrap=dtc_program_step", "-lpthread", "-ldl", "-o",
                    f"{folder}/train"], check=True)
    output = train()
    written = [(int(r), int(n)) for r, n in re.findall(r"rank (\d+) wrote byte (\d+) last", output)]
    assert sorted(r for r, _ in written) == list(range(ranks)), output
    assert len(re.findall(r"rank \d+ has a poisoned arena", output)) == ranks, output
    stages = [r * len(arenas) // ranks for r, _ in written]
    inside = all(lasts[s] <= n < arenas[s] for s, (_, n) in zip(stages, written))
    name = " ".join([mesh, *flags])
    print(f"{name}: the last byte written lies in the last buffer: {'yes' if inside else written}")
    counts = re.findall(r"probe: (\d+) allocations, (\d+) after", output)
    assert len(counts) == (ranks if launcher else 1) and all(int(n) > 100 for n, _ in counts), output
    print(f"{name}: allocations after the first step: {sum(int(n) for _, n in counts)}")
    if mesh == "cp=2,tp=2":
        seen = sum(map(int, re.findall(r"(\d+) after", train(fault=True))))
        print(f"with a planted one in each rank: {seen}")
