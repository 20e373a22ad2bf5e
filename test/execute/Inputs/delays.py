#!/usr/bin/env python3
"""delays.py FOLDER CLANG LIBRARY-FOLDERS [LAUNCHER]: ranks that are late.

Trains for some steps with ranks that are delayed at random (delay.cpp): losses,
gradients and weights have the bits of the run without delays, so that no gather
sees weights from before an update, and no update waits for less than it should.
With a wait that comes late the bits are others, or the run fails: the
comparison sees it. LIBRARY-FOLDERS: the runtime's and OpenMP's.
"""
import os
import subprocess
import sys

import runs

folder, clang, runtime, openmp = sys.argv[1:5]
launcher = " ".join(sys.argv[5:])
here = os.path.dirname(os.path.abspath(__file__))
config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 16, "n_embd": 16, "n_layer": 3, "n_head": 2}
model = runs.make_model(folder, config, batch=8, seq=16)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(i * i % 251 for i in range(4000)))
subprocess.run([clang, "-O1", "-c", f"{here}/delay.cpp", "-o", f"{folder}/delay.o"], check=True)


def train(**environment):
    os.environ.pop("DELAY_SEED", None)
    os.environ.pop("DELAY_FAULT", None)
    os.environ.update(environment)
    return runs.train(f"{folder}/train", "--threads", "1", "--timeout", "60", "--text", f"{folder}/text",
                      launcher=f"{launcher} -n 4" if launcher else "", steps=5)


cases = [["dp=4", "--zero", "1"], ["dp=4", "--zero", "2", "--microbatches", "2"],
         ["dp=4", "--zero", "3", "--microbatches", "2"], ["dp=4", "--zero", "3", "--zero3-reshard", "step"],
         ["pp=2,dp=2", "--zero", "3", "--microbatches", "4"]]
for mesh, *flags in cases[2:3] if launcher else cases:
    name = " ".join([mesh, *flags])
    subprocess.run(["dtc-compile", model, "--mesh", mesh, *flags, "--bucket-bytes", "4096", "--emit=obj", "-o",
                    f"{folder}/train.o"], check=True, stdout=subprocess.DEVNULL)
    wraps = [f"-Wl,--wrap={f}" for f in ("dtc_program_step", "dtc_rt_start", "dtc_rt_wait")]
    subprocess.run([clang, f"{folder}/train.o", f"{folder}/delay.o", f"{runtime}/libDTCRuntime.a", "-L" + openmp,
                    "-lomp", "-Wl,-rpath," + openmp, *wraps, "-lpthread", "-ldl", "-o", f"{folder}/train"], check=True)
    reference = train()
    for seed in "1", "2", "3":
        print(f"{name}: {'equal' if train(DELAY_SEED=seed) == reference else 'differs'} with delays {seed}")
    if flags == ["--zero", "3", "--microbatches", "2"]:
        try:
            seen = train(DELAY_FAULT="1") != reference
        except SystemExit:
            seen = True
        print(f"{name}: a late wait is {'seen' if seen else 'not seen'}")
