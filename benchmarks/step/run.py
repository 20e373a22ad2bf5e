#!/usr/bin/env python3
"""A whole training step of GPT-2 124M, and how long compiling takes.

  run.py BIN step [--threads N] [--steps N]   one rank: milliseconds a step, share of
                                              the FMA peak, a table of kernels
  run.py BIN ranks [--steps N]                two ranks of one thread, dp=2 and tp=2,
                                              beside one rank of one and of two threads
  run.py BIN compile                          12 and 96 layers

BIN is the folder of the tools. Batch 4, sequence 256, f32, no dropout. The median
step counts, beside the mean of the peak before and after. Where PyTorch is
installed, `step` runs pytorch.py of this folder beside.
"""
import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bin")
parser.add_argument("what", choices=["step", "ranks", "compile"])
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=8)
arguments = parser.parse_args()
BATCH, SEQ, LAYERS, WIDTH, VOCABULARY = 4, 256, 12, 768, 50257
folder = tempfile.mkdtemp(prefix="dtc-step-")


def tool(name, *flags):
    return subprocess.run([f"{arguments.bin}/{name}", *flags], check=True, stdout=subprocess.PIPE, text=True).stdout


def make_model(layers):
    config = {"model_type": "gpt2", "vocab_size": VOCABULARY, "n_positions": 1024, "n_embd": WIDTH, "n_layer": layers,
              "n_head": 12, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f)
    tool("dtc-import", f"{folder}/config.json", "--batch", str(BATCH), "--seq", str(SEQ), "-o", f"{folder}/model.mlir")


def train(threads, mesh):
    tool("dtc-compile", f"{folder}/model.mlir", "--mesh", mesh, "-o", f"{folder}/train")
    subprocess.run([f"{folder}/train", "--threads", str(threads), "--text", f"{folder}/text", "--steps",
                    str(arguments.steps), "--log", f"{folder}/log", "--profile", f"{folder}/profile"], check=True,
                   stderr=subprocess.DEVNULL)
    with open(f"{folder}/log") as f:
        times = [json.loads(line)["step_ms"] for line in list(f)[1:]]
    with open(f"{folder}/profile") as f:
        return statistics.median(times), json.load(f)


def peak(threads):
    """GFLOP/s of fused multiply-adds."""
    text = tool("dtc-bench-kernels", f"--threads={threads}", "--benchmark_filter=^peak", "--benchmark_format=json")
    return json.loads(text)["benchmarks"][0]["GFLOP/s"]


def kernel_flops(name):
    """Of a matrix product: twice the product of all letters' sizes."""
    match = re.match(r"einsum (\w+),(\w+)->\w+ (\S+)x\w+ (\S+)x\w+ ->", name)
    if not match:
        return 0
    sizes = {}
    for letters, shape in [match.group(1, 3), match.group(2, 4)]:
        sizes.update(zip(letters, map(int, shape.split("x"))))
    flops = 2
    for size in sizes.values():
        flops *= size
    return flops


def model_flops():
    """Matrix products forward and backward, attention's visible half with the
    backward's recomputation."""
    weights = LAYERS * 12 * WIDTH * WIDTH + VOCABULARY * WIDTH
    pairs = BATCH * SEQ * (SEQ + 1) / 2
    return 6 * weights * BATCH * SEQ + LAYERS * 3.5 * 4 * pairs * WIDTH


with open(f"{folder}/text", "wb") as f:
    f.write(os.urandom(400000))
print("load average", os.getloadavg()[0])
if arguments.what == "compile":
    seconds = {}
    for layers in (12, 96):
        make_model(layers)
        start = time.time()
        tool("dtc-compile", f"{folder}/model.mlir", "-o", f"{folder}/train")
        seconds[layers] = time.time() - start
        print(f"{layers} layers: compiled in {seconds[layers]:.1f} s, {os.path.getsize(folder + '/train')} bytes")
    print(f"ratio {seconds[96] / seconds[12]:.2f}")
    sys.exit()

make_model(LAYERS)
if arguments.what == "ranks":
    results = {}
    for threads, mesh in [(1, "dp=1"), (2, "dp=1"), (1, "dp=2"), (1, "tp=2")]:
        results[threads, mesh], _ = train(threads, mesh)
        print(f"{mesh}, {threads} thread{'s' * (threads > 1)} a rank: {results[threads, mesh]:.0f} ms a step", flush=True)
    two = results[2, "dp=1"]
    for mesh in ("dp=2", "tp=2"):
        print(f"{mesh}: {two / results[1, mesh]:.2f} of the speed of one rank with two threads")
    sys.exit()

before = peak(arguments.threads)
step, profile = train(arguments.threads, "dp=1")
fastest = statistics.mean([before, peak(arguments.threads)])
print(f"peak {fastest:.0f} GFLOP/s on {arguments.threads} threads")
print(f"median step {step:.0f} ms, mean {profile['step_ms']:.0f} ms; {model_flops() / step * 1e-6:.0f} GFLOP/s, "
      f"{100 * model_flops() / step * 1e-6 / fastest:.0f} % of the peak")
rest = profile["step_ms"]
print(f"{'ms':>8} {'share':>6} {'calls':>6} {'GFLOP/s':>8}  kernel (means)")
for row in profile["kernels"]:
    rest -= row["ms"]
    if row["ms"] > 0.002 * profile["step_ms"]:
        rate = kernel_flops(row["name"]) * row["calls"] / row["ms"] * 1e-6
        print(f"{row['ms']:8.1f} {row['ms'] / profile['step_ms']:6.1%} {row['calls']:6.0f} "
              f"{rate if rate else float('nan'):8.0f}  {row['name']}")
print(f"{rest:8.1f} {rest / profile['step_ms']:6.1%}                  outside of kernels")
if importlib.util.find_spec("torch"):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, f"{here}/pytorch.py", str(arguments.threads), str(arguments.steps)], check=True)
else:
    print("PyTorch is not installed")
