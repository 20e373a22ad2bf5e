"""How lit runs the cases of this folder. `config` and `lit_config` come from lit."""

import importlib.util
import os
import platform

import lit.formats

config.name = "DTC"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "conformance"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.dtc_binary_dir, "test")

# The tools of this build and of LLVM 22 come before any others.
config.environment["PATH"] = os.pathsep.join(
    [config.dtc_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
for name in ("HOME", "LANG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
for option in filter(None, config.sanitizer_options.split(";")):
    name, value = option.split("=", 1)
    config.environment[name] = os.environ.get(name, value)

config.substitutions.append(("%examples", config.dtc_source_dir + "/examples"))
config.substitutions.append(("%python", '"python3"'))
# To link with the runtime by hand: a compiler, and the folders of the runtime's
# library and of OpenMP's.
config.substitutions.append(("%clang", config.llvm_tools_dir + "/clang++"))
config.substitutions.append(
    ("%libs", f"{config.dtc_tools_dir}/../lib {config.llvm_tools_dir}/../lib")
)

if config.mpirun and not config.mpirun.endswith("NOTFOUND"):
    config.available_features.add("mpirun")
    config.substitutions.append(
        ("%mpirun", config.mpirun + " --oversubscribe --allow-run-as-root")
    )
# What Hugging Face's library loads can be shown only where it is.
if all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
    config.available_features.add("transformers")
if config.sanitize:
    config.available_features.add("sanitizer")
if platform.machine() == "x86_64":
    config.available_features.add("x86_64")
    with open("/proc/cpuinfo") as cpuinfo:
        flags = set(next((l for l in cpuinfo if l.startswith("flags")), "").split())
    config.available_features.update(flags & {"avx2", "avx512f", "avx512_bf16"})

# A hang is a failure. lit needs psutil to stop a whole tree of processes.
try:
    import psutil  # noqa: F401

    lit_config.maxIndividualTestTime = config.time_limit
except ImportError:
    pass
