#!/usr/bin/env python3
"""races.py FOLDER CLANG TSAN-BUILD LIBRARY-FOLDERS: compiled steps without races.

Trains compiled programs under the thread sanitizer: the kernels and the step
that drives them are instrumented like the runtime (that of TSAN-BUILD, a build
with the preset tsan). Ranks are threads, each with two OpenMP threads, and
checkpoints are written beside training. The sanitizer sees accesses of at most
16 bytes, so kernels are compiled for a processor without wider vectors. A wait
that is moved behind the kernel that needs it must be reported. The second of
LIBRARY-FOLDERS is OpenMP's: it tells the sanitizer about its barriers.
"""
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "..", "..", "..")
sys.path.append(os.path.join(root, "test", "execute", "Inputs"))
import runs

folder, clang, build, _, openmp = sys.argv[1:6]
steps = "2"


def link(ir, program):
    """An executable of `ir` (a file's text), all of whose functions are watched."""
    with open(f"{program}.ll", "w") as f:
        f.write(re.sub(r"(?m)^attributes #\d+ = \{", r"\g<0> sanitize_thread", ir))
    subprocess.run([clang, "-fsanitize=thread", "-O1", f"{program}.ll", f"{build}/lib/libDTCRuntime.a",
                    "-L" + openmp, "-lomp", "-Wl,-rpath," + openmp, "-lstdc++", "-lm", "-lpthread", "-ldl",
                    "-o", program], check=True)
    return program


def train(program, *flags):
    """The run's messages, and whether it ended well."""
    saved = f"{folder}/saved"
    shutil.rmtree(saved, ignore_errors=True)
    options = [f"suppressions={root}/cmake/sanitizers/tsan.supp", "halt_on_error=1"]
    run = subprocess.run([program, "--threads", "2", "--timeout", "60", "--seed", "3", "--steps", steps, "--text",
                          f"{folder}/text", "--save", saved, "--save-every", "1", "--log", f"{folder}/log",
                          "--trace", f"{folder}/trace", "--profile", f"{folder}/profile", *flags],
                         env={**os.environ, "TSAN_OPTIONS": ":".join(options)}, stderr=subprocess.PIPE, text=True)
    return run.stderr, run.returncode == 0


config = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, "n_embd": 128, "n_layer": 2, "n_head": 4,
          "attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1}
model = runs.make_model(folder, config, batch=8, seq=64)
with open(f"{folder}/text", "wb") as f:
    f.write(bytes(i * i % 251 for i in range(4000)))

for flags in (["--mesh", "dp=2,tp=2"], ["--mesh", "dp=4", "--zero", "3", "--microbatches", "2"],
              ["--mesh", "pp=2,dp=2", "--zero", "1", "--microbatches", "2"],
              ["--mesh", "cp=2,tp=2", "--sequence-parallel"]):
    ir = f"{folder}/step.ll"
    runs.compile_model(model, ir, *flags, "--emit=llvm", "--cpu", "x86-64")
    with open(ir) as f:
        text = f.read()
    # Small kernels run on one thread: here some must not.
    assert "call void (ptr, i32, ptr, ...) @__kmpc_fork_call" in text, "no kernel has threads"
    program = link(text, f"{folder}/train")
    for kind in "direct", "ring":
        messages, good = train(program, "--collectives", kind)
        print(f"{' '.join(flags)}, {kind}: {'no race' if good else messages}")

    if flags[1] == "dp=2,tp=2":
        late, count = re.subn(r"(?m)^( *call void @dtc_rt_wait\(.*\n)( *call fastcc void @kernel_.*\n)", r"\2\1", text)
        assert count, "no kernel follows a wait"
        messages, good = train(link(late, f"{folder}/late"))
        seen = not good and "ThreadSanitizer: data race" in messages
        print("a late wait is seen" if seen else f"a late wait is not seen: {messages}")
