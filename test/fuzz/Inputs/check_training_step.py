"""Compiles random models to training steps on random meshes and compares each with the step on
one device: loss, gradients, norm, updated parameters and optimizer state.

    check_training_step.py FIRST_SEED LAST_SEED FOLDER
"""

import random
import subprocess
import sys

from random_model import model

MESHES = ["dp=2", "tp=2", "dp=2,tp=2", "tp=4", "dp=4,tp=2", "dp=2,tp=3"]


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    return p.returncode, p.stdout + p.stderr


def compile_step(source, target, options):
    return run("dtc-opt", source, f"-dtc-training-pipeline={options}", "-o", target)


def main(first, last, folder):
    source, one, many = (f"{folder}/{n}.mlir" for n in ("model", "one", "many"))
    for seed in range(first, last):
        with open(source, "w") as f:
            f.write(model(seed))
        status, text = compile_step(source, one, "mesh=dp=1")
        if status:
            sys.exit(f"seed {seed}, one device: {text[:2000]}")
        rng = random.Random(seed)
        for _ in range(2):
            mesh = rng.choice(MESHES)
            parallel = "tp" in mesh and "tp=3" not in mesh and rng.random() < 0.4
            count = rng.choice([1, 2] if "dp=4" in mesh or "tp=4" in mesh else [1, 2, 4])
            options = f"mesh={mesh} microbatches={count}" + (" sequence-parallel" if parallel else "")
            status, text = compile_step(source, many, options)
            if status == 0:
                status, text = run("dtc-interpret", many, "--against", one, "--tolerance", "1e-8")
            if status:
                wrong = [line for line in text.splitlines() if "differs" in line]
                sys.exit(f"seed {seed}, {options}: " + ("\n".join(wrong) or text[:2000]))
    print(f"{last - first} models agree")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
