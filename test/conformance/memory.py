#!/usr/bin/env python3
"""memory.py BIN DIR LIST...: the planned arena of every line of the lists, in
this folder or DIR/conformance/meshes, is at most 5 % over the largest sum of
live bytes."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

tools, folder, names = sys.argv[1], os.environ.get("DTC_CONFORMANCE_DIR") or sys.argv[2], sys.argv[3:]
meshes = f"{folder}/conformance/meshes"
if not os.path.exists(f"{meshes}/{names[0]}.txt"):
    print(f"skipped: no conformance/meshes/{names[0]}.txt in {folder}; set DTC_CONFORMANCE_DIR to the folder that has it")
    sys.exit(77)


bad = 0
with tempfile.TemporaryDirectory() as temporary:
    for name in names:
        own = f"{os.path.dirname(os.path.abspath(__file__))}/{name}.txt"
        with open(own if os.path.exists(own) else f"{meshes}/{name}.txt") as f:
            rows = [[cell.strip() for cell in line.split("|")] for line in f if line.strip() and line[0] != "#"]
        for case, mesh, *flags in rows:
            case, model = f"{folder}/goldens/{case}", f"{temporary}/model.mlir"
            extra = open(f"{case}/import-flags").read().split() if os.path.exists(f"{case}/import-flags") else []
            with open(f"{case}/train.json") as f:
                train = json.load(f)
            subprocess.run([f"{tools}/dtc-import", f"{case}/config.json", "--batch", str(train["batch"]), "--seq",
                            str(train["seq"]), *extra, "-o", model], check=True)
            program = subprocess.run([f"{tools}/dtc-compile", model, "--mesh", mesh, *shlex.split(" ".join(flags[:1])),
                                      "--emit=mlir", "-o", "-"], check=True, stdout=subprocess.PIPE).stdout
            report = subprocess.run([f"{tools}/dtc-opt", "-dtc-lower-to-runtime", "-dtc-overlap",
                                     "-dtc-plan-memory=memory-report=true check=true", "-o", "/dev/null"], input=program,
                                    check=True, stderr=subprocess.PIPE).stderr.decode()
            # One number for each coordinate on pp.
            arenas = [int(n) for n in re.search(r"arena of a rank(.*)", report).group(1).split()]
            lives = [int(n) for n in re.findall(r"at most (\d+) live at once", report)]
            assert arenas and len(arenas) == len(lives), report
            over = [arena / live - 1 for arena, live in zip(arenas, lives)]
            good = all(0 <= x <= 0.05 for x in over)
            bad += not good
            print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(case)} {mesh} {' '.join(flags[:1])}: {max(arenas)} "
                  f"bytes, {100 * max(over):.2f} % over what lives at once", flush=True)
sys.exit(bad > 0)
