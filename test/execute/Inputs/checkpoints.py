#!/usr/bin/env python3
"""checkpoints.py FOLDER TABLE: each layout resumes what each other has saved.

Compiles a model for every layout of TABLE, trains four steps that save after the second, and resumes from there with every layout: losses and
norms of the last two steps agree, and the third step's gradients. (Only the
fourth step depends on the moments.) The weights that are loaded have equal bits
everywhere, those of a master copy and those of a parameter without one. On the
layout that saved, loss and norm are printed alike, and the last weights have
equal bits.
"""
import filecmp
import json
import os
import shutil
import struct
import subprocess
import sys

folder, table = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
layouts = {
    "gpt2": [
        "--mesh dp=1",
        "--mesh dp=4 --zero 1",
        "--mesh tp=4",
        "--mesh tp=2 --sequence-parallel",
        "--mesh dp=2,cp=2 --cp-layout zigzag --zero 3",
        "--mesh dp=2,tp=2 --microbatches 2",
        "--mesh pp=2 --microbatches 2",
        "--mesh pp=2,dp=2 --microbatches 2 --schedule interleaved --zero 2",
    ],
    "precision": [
        "--mesh dp=1",
        "--mesh dp=1 --precision bf16",
        "--mesh dp=2,tp=2 --precision bf16 --zero 1",
        "--mesh dp=4 --precision bf16 --zero 3 --microbatches 2",
        "--mesh pp=2,dp=2 --precision bf16 --zero 2 --microbatches 2",
    ],
    "llama": ["--mesh dp=1", "--mesh dp=2,tp=4 --zero 1", "--mesh pp=2,cp=2 --microbatches 4"],
}[table]
tolerance = "0.01" if table == "precision" else "2e-5"
config = f"{here}/gpt2-odd-dropout.json" if table != "llama" else f"{here}/llama-grouped.json"
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)


def run(*command):
    # What nobody wrote, padding too, is NaN.
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, DTC_POISON_ARENA="1"))
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stderr


def train(program, out, *flags):
    os.makedirs(out, exist_ok=True)
    # A log that is there would be continued.
    if os.path.exists(f"{out}/log.jsonl"):
        os.remove(f"{out}/log.jsonl")
    run(f"./{program}", "--threads", "1", "--text", f"{here}/text.txt", "--steps", "4", "--log", f"{out}/log.jsonl", "--dump-grads",
        f"{out}/grads.safetensors", "--save-weights", f"{out}/weights", *flags)


def last_steps(out):
    with open(f"{out}/log.jsonl") as f:
        rows = map(json.loads, list(f)[-2:])
    return [(row["step"], row["loss"], row["grad_norm"]) for row in rows]


def header(path):
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        return f.read(n)


run("dtc-import", config, "--batch", "8", "--seq", "16", "-o", "model.mlir")
for i, flags in enumerate(layouts):
    run("dtc-compile", "model.mlir", *flags.split(), "-o", f"train{i}")
    # Every other one beside training.
    train(f"train{i}", f"whole{i}", "--seed", "5", "--save", f"saved{i}", "--save-every", "2",
          *(["--save-sync"] if i % 2 else []))

files = ["model-00001-of-00001.safetensors", "optimizer-00001-of-00001.safetensors"]
for i, flags in enumerate(layouts):
    source = f"saved{i}/step-00000002"
    listed = sorted(os.listdir(source))
    assert listed == ["config.json", files[0], "model.safetensors.index.json", files[1], "trainer.json"], listed
    assert filecmp.cmp(f"{source}/config.json", config, shallow=False)
    for name in files:
        # Those of one precision.
        first = next(k for k, other in enumerate(layouts) if ("bf16" in other) == ("bf16" in flags))
        assert header(f"{source}/{name}") == header(f"saved{first}/step-00000002/{name}"), f"{flags}: {name} has another header"
    for j in range(len(layouts)):
        run(f"./train{j}", "--text", f"{here}/text.txt", "--steps", "2", "--resume", source, "--save-weights", "loaded")
        if j == 0:
            os.rename("loaded", "expected")
        else:
            assert filecmp.cmp("loaded", "expected", shallow=False), f"{layouts[j]} loads other weights"
        train(f"train{j}", f"from{i}by{j}", "--resume", source)
    same = (last_steps(f"whole{i}") == last_steps(f"from{i}by{i}") and
            filecmp.cmp(f"whole{i}/weights", f"from{i}by{i}/weights", shallow=False))
    others = [f"from{i}by{j}" for j in range(len(layouts)) if j != i]
    compared = subprocess.run([sys.executable, f"{here}/compare.py", f"from{i}by{i}", *others, "--tolerance", tolerance], capture_output=True,
                              text=True).stdout.strip()
    print(f"saved by {flags}: itself {'equal' if same else 'differs'}, {len(others)} others {compared}", flush=True)

# What Hugging Face reads is read as weights too.
losses = set()
for flags in (["--weights", "saved0/step-00000002"], ["--resume", "saved0/step-00000002", "--resume-weights-only"]):
    train("train0", "weights", *flags, "--seed", "5")
    losses.add(json.dumps(last_steps("weights")))
print("as weights:", "equal" if len(losses) == 1 else losses)
