#!/usr/bin/env python3
"""Memory and time of context parallelism on a small Llama. Standard library only.

  run.py --bin BUILD/bin memory   planned activations and workspace of a rank, the sequence growing as cp
  run.py --bin BUILD/bin time     milliseconds a step at one length: 1 rank with 2 threads, 2 ranks in every layout
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
    subprocess.run([f"{tools}/dtc-import", config, "--batch", "1", "--seq", str(seq), "-o", model], check=True)
    return model


def memory(tools, folder, args):
    print(f"{args.piece} tokens on each rank")
    for cp in (1, 2, 4, 8):
        model = import_model(tools, folder, args.piece * cp)
        plan = subprocess.run(
            [f"{tools}/dtc-opt", model, f"-dtc-training-pipeline=mesh=cp={cp} cp-layout=zigzag", "-dtc-lower-to-runtime",
             "-dtc-plan-memory"], check=True, capture_output=True, text=True).stdout
        activations = int(re.search(r'"activations", (\d+)', plan).group(1))
        first = activations if cp <= 2 else first
        workspace = max((int(n) for n in re.findall(r"rt.workspace : memref<(\d+)xi8>", plan)), default=0)
        print(f"cp={cp}: activations {activations} ({activations / first:.3f} times those of cp={min(cp, 2)}), "
              f"workspace of a thread {workspace}", flush=True)


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
        subprocess.run([f"{tools}/dtc-compile", import_model(tools, folder, args.seq), "--mesh", mesh, *flags, "-o", program],
                       check=True, stdout=subprocess.DEVNULL)
        print(f"{name:20} {step_time(program, ranks, threads, args.steps, folder):9.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("what", choices=("memory", "time"))
    parser.add_argument("--seq", type=int, default=4096)
    parser.add_argument("--piece", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        globals()[arguments.what](os.path.abspath(arguments.bin), scratch, arguments)
