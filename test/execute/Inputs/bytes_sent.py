#!/usr/bin/env python3
"""bytes_sent.py FOLDER CLANG LIBRARY-FOLDERS: planned bytes against those sent.

Compiles one model for many meshes, reads the bytes that dtc-compile plans for
each group of axes, and counts those that each rank sends in a step (sent.cpp).
The first rank of every group sends what is planned, to the byte, no other
more. LIBRARY-FOLDERS: the runtime's and OpenMP's.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict

import runs

folder, clang, runtime, openmp = sys.argv[1:5]
here = os.path.dirname(os.path.abspath(__file__))
config = {"model_type": "gpt2", "vocab_size": 257, "n_positions": 16, "n_embd": 24, "n_layer": 2, "n_head": 4,
          "n_inner": 42}
model = runs.make_model(folder, config, batch=16, seq=16)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(i * i % 251 for i in range(4000)))
subprocess.run([clang, "-O1", "-std=c++17", f"-I{here}/../../../include", "-c", f"{here}/sent.cpp", "-o",
                f"{folder}/sent.o"], check=True)


def parse_plan(text, columns):
    """By group of axes, for each coordinate on pp: total, and of each micro-batch."""
    plan, group = {}, None
    for line in text.splitlines():
        if match := re.match(r"  over (.+?)  +(\d.*)$", line):
            group = match.group(1)
            plan[group] = [[int(n), 0] for n in match.group(2).split()]
            assert len(plan[group]) == columns, line
        elif match := re.match(r"    each micro-batch (.*)$", line):
            for entry, n in zip(plan[group], match.group(1).split()):
                entry[1] = int(n)
    return plan


def run(mesh, flags):
    """Planned and counted bytes: {group: [per coordinate]}, {rank: {group: bytes}}."""
    sizes = [(name, int(n)) for name, n in (part.split("=") for part in mesh.split(","))]
    ranks = 1
    strides = {}
    for name, n in reversed(sizes):
        strides[name] = ranks
        ranks *= n
    sizes = dict(sizes)
    text = subprocess.run(["dtc-compile", model, "--mesh", mesh, *flags, "--emit=obj", "-o", f"{folder}/train.o"],
                          check=True, capture_output=True, text=True).stdout
    plan = parse_plan(text, sizes.get("pp", 1))
    subprocess.run([clang, f"{folder}/train.o", f"{folder}/sent.o", f"{runtime}/libDTCRuntime.a", "-L" + openmp,
                    "-lomp", "-Wl,-rpath," + openmp, "-Wl,--wrap=dtc_program_step", "-lpthread", "-ldl", "-o",
                    f"{folder}/train"], check=True)
    out = subprocess.run([f"{folder}/train", "--threads", "1", "--text", f"{folder}/text", "--steps", "2", "--timeout",
                          "60"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    counted = {rank: defaultdict(int) for rank in range(ranks)}
    for rank, bytes_, group in re.findall(r"sent (\d+) (\d+) (\S+)", out.stderr):
        names = {"pp"}
        if group != "messages":
            parts = [tuple(map(int, part.split("x"))) for part in group.split(",")]
            names = {name for name in sizes for stride, _ in parts
                     if strides[name] <= stride < strides[name] * sizes[name]}
        counted[int(rank)][", ".join(name for name in sizes if name in names)] += int(bytes_)
    return plan, counted, ranks // sizes.get("pp", 1)


def check(mesh, *flags):
    plan, counted, inner = run(mesh, flags)
    bad = []
    for rank, groups in counted.items():
        for group in {*groups, *plan}:
            planned = plan.get(group, [[0, 0]] * (rank // inner + 1))[rank // inner][0]
            if (rank % inner == 0 and groups[group] != planned) or groups[group] > planned:
                bad.append(f"rank {rank} sent {groups[group]} over {group}, planned {planned}")
    print(f"{mesh} {' '.join(flags)}: {'as planned' if plan and not bad else bad}")
    return plan


for zero, m in (["0"], 2), (["1"], 4), (["2"], 4), (["3"], 2), (["3", "--zero3-reshard", "step"], 4):
    check("dp=2", "--zero", *zero, "--microbatches", str(m))
for zero in "2", "3":
    check("dp=4", "--zero", zero)
check("dp=2,tp=2", "--zero", "3", "--microbatches", "2", "--sequence-parallel")
check("dp=2,cp=2,tp=2", "--zero", "1", "--sequence-parallel", "--sp-gather", "again")
check("dp=2,cp=4", "--zero", "3", "--cp-attention", "ring")
check("cp=2,tp=4", "--zero", "2", "--cp-attention", "all-gather")
check("pp=2,dp=2", "--zero", "3", "--microbatches", "4")
check("pp=2,dp=2,tp=2", "--zero", "2", "--microbatches", "2", "--schedule", "zb-h1", "--sequence-parallel")
