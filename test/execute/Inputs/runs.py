"""Compiled programs and their runs, for the tests of this folder."""
import json
import os
import shlex
import subprocess


def make_model(folder, config, batch, seq):
    """Imports a model; returns its path."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f)
    path = f"{folder}/model.mlir"
    subprocess.run(["dtc-import", f"{folder}/config.json", "--batch", str(batch), "--seq", str(seq), "-o", path],
                   check=True)
    return path


def compile_model(model, output, *flags):
    subprocess.run(["dtc-compile", model, *flags, "-o", output], check=True, stdout=subprocess.DEVNULL)
    return output


def train(program, *flags, launcher="", steps=3):
    """Losses and norms as they are printed, the first step's gradients and the
    last weights as bytes."""
    files = {kind: f"{program}.{kind}" for kind in ("log", "grads", "weights")}
    for path in files.values():
        if os.path.exists(path):
            os.remove(path)
    command = [*shlex.split(launcher), program, *flags, "--seed", "3", "--steps", str(steps), "--log", files["log"],
               "--dump-grads", files["grads"], "--save-weights", files["weights"]]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{shlex.join(command)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    with open(files["log"]) as log:
        rows = [(row["loss"], row["grad_norm"]) for row in map(json.loads, list(log)[1:])]
    assert len(rows) == steps, rows
    result = {"losses": rows}
    for kind in ("grads", "weights"):
        with open(files[kind], "rb") as f:
            result[kind] = f.read()
    return result
