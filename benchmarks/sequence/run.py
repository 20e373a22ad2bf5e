#!/usr/bin/env python3
"""Memory and time of context parallelism on a small Llama. Standard library only.

  run.py [--bin BUILD/bin] memory   planned activations and workspace of a rank, the sequence growing as cp
  run.py [--bin BUILD/bin] time     milliseconds a step at one length: 1 rank with 2 threads, 2 ranks in every layout

The tools come from the folder given with --bin, else from the path.
"""
import argparse, json, os, re, subprocess, tempfile

CONFIG = {
    "model_type": "llama", "vocab_size": 256, "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8,
    "num_key_value_heads": 4, "intermediate_size": 512, "max_position_embeddings": 65536,
}


def import_model(tools, folder, seq):
    config, model = os.path.join(folder, "config.json"), os.path.join(folder, "model.mlir")
    with open(config, "w") as f:
        json.dump(CONFIG, f)
    subprocess.run([f"{tools}dtc-import", config, "--batch", "1", "--seq", str(seq), "-o", model], check=True)
    return model


def memory(tools, folder, args):
    """Planned bytes, which are what a program takes."""
    print(f"{args.piece} tokens on each rank")
    activations, workspaces = {}, {}
    for cp in (1, 2, 4, 8):
        model = import_model(tools, folder, args.piece * cp)
        plan = subprocess.run(
            [f"{tools}dtc-opt", model, f"-dtc-training-pipeline=mesh=cp={cp} cp-layout=zigzag", "-dtc-lower-to-runtime",
             "-dtc-plan-memory"], check=True, capture_output=True, text=True).stdout
        activations[cp] = int(re.search(r'"activations", (\d+)', plan).group(1))
        workspaces[cp] = max((int(n) for n in re.findall(r"rt.workspace : memref<(\d+)xi8>", plan)), default=0)
        print(f"cp={cp}: activations {activations[cp]}, workspace of a thread {workspaces[cp]}", flush=True)
    for name, values in (("activations", activations), ("workspace", workspaces)):
        spread = max(values[cp] for cp in (2, 4, 8)) / max(1, min(values[cp] for cp in (2, 4, 8)))
        print(f"{name}: " + ("flat within 5 %" if spread <= 1.05 else f"not flat: largest over smallest is {spread:.3f}"))
    # Keys, values and the gradients of both: one block that is computed with,
    # one that arrives; and the positions.
    heads, width = CONFIG["num_key_value_heads"], CONFIG["hidden_size"] // CONFIG["num_attention_heads"]
    ring = 4 * args.piece * (8 * heads * width + 2)
    less = activations[2] - activations[1]
    print("one rank: " + ("less by at most the ring's buffers" if 0 <= less <= ring else f"differs by {less}, the ring's buffers are {ring}"))


def step_time(program, ranks, threads, steps, folder):
    log, text = os.path.join(folder, "log.jsonl"), os.path.join(folder, "text")
    if not os.path.exists(text):
        with open(text, "wb") as f:
            f.write(os.urandom(1 << 20))
    subprocess.run([program, "--ranks", str(ranks), "--threads", str(threads), "--text", text, "--seed", "1", "--steps", str(steps),
                    "--log", log], check=True, capture_output=True)
    times = sorted(json.loads(line)["step_ms"] for line in open(log).readlines()[2:])
    return times[len(times) // 2]


def time(tools, folder, args):
    print(f"sequence {args.seq}, median milliseconds a step (processors: {len(os.sched_getaffinity(0))})")
    for name, mesh, ranks, threads, flags in [
        ("1 rank, 2 threads", "cp=1", 1, 2, []),
        ("ring, contiguous", "cp=2", 2, 1, []),
        ("ring, striped", "cp=2", 2, 1, ["--cp-layout=striped"]),
        ("ring, zigzag", "cp=2", 2, 1, ["--cp-layout=zigzag"]),
        ("all-gather, zigzag", "cp=2", 2, 1, ["--cp-layout=zigzag", "--cp-attention=all-gather"]),
        ("ulysses", "cp=2", 2, 1, ["--cp-attention=ulysses"]),
    ]:
        program = os.path.join(folder, "train")
        subprocess.run([f"{tools}dtc-compile", import_model(tools, folder, args.seq), "--mesh", mesh, *flags, "-o", program],
                       check=True, stdout=subprocess.DEVNULL)
        print(f"{name:20} {step_time(program, ranks, threads, args.steps, folder):9.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="")
    parser.add_argument("what", choices=("memory", "time"))
    parser.add_argument("--seq", type=int, default=4096)
    parser.add_argument("--piece", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        globals()[arguments.what](arguments.bin and os.path.abspath(arguments.bin) + "/", scratch, arguments)
