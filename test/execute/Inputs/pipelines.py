"""Pipelines against one device: pipelines.py FOLDER TEXT TABLE

Prints a line for each program of the table: "equal" where losses, norms, the
first step's gradients and the last weights are those of one device.
"""
import array
import json
import struct
import sys

from runs import compile_model, make_model, train

folder, text, table = sys.argv[1:]
LR = 0.05
# Far below the gradient's norm, and an epsilon with which an update depends on
# the gradient's size: so weights show the clip coefficient.
CLIPPED = {"lr": LR, "betas": [0.9, 0.95], "eps": 0.01, "weight_decay": 0.1, "grad_clip": 0.05, "steps": 3}

GPT2 = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 8, "n_embd": 16, "n_layer": 4, "n_head": 4,
        "attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.2}
LLAMA = {"model_type": "llama", "vocab_size": 256, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 1, "max_position_embeddings": 8, "initializer_range": 0.2}


def tensors(data):
    (n,) = struct.unpack("<Q", data[:8])
    out = {}
    for name, t in json.loads(data[8:8 + n]).items():
        if name != "__metadata__":
            begin, end = (8 + n + x for x in t["data_offsets"])
            out[name] = array.array("f", data[begin:end])
    return out


class Model:
    def __init__(self, name, config, batch):
        self.name, self.batch = name, batch
        self.path = make_model(f"{folder}/{name}", config, batch, 8)
        self.one = self.run("")

    def run(self, flags, **settings):
        program = compile_model(self.path, f"{folder}/{self.name}/train", *flags.split())
        path = f"{folder}/{self.name}/train.json"
        with open(path, "w") as f:
            json.dump({**CLIPPED, "batch": self.batch, "seq": 8, **settings}, f)
        return train(program, "--config", path, "--text", text, "--timeout", "60")

    def differences(self, got):
        want = self.one
        for step, (a, b) in enumerate(zip(want["losses"], got["losses"])):
            for what, x, y in zip(("loss", "norm"), a, b):
                if not abs(x - y) <= 2e-5 * abs(x):
                    yield f"step {step}: {what} {y}, not {x}"
        for kind in ("grads", "weights"):
            a, b = tensors(want[kind]), tensors(got[kind])
            assert a.keys() == b.keys()
            top = max(max(map(abs, v)) for v in a.values())
            for name in a:
                scale = 1e-3 * LR if kind == "weights" else 2e-4 * max(max(map(abs, a[name])), 1e-3 * top)
                worst = max(abs(x - y) for x, y in zip(a[name], b[name]))
                if not worst <= scale:
                    yield f"{kind} of {name}: {worst:.2e} off, more than {scale:.2e}"

    def check(self, flags, **settings):
        wrong = list(self.differences(self.run(flags, **settings)))
        print(f"{self.name} {flags}:", wrong[0] if wrong else "equal")


if table == "micro-batches":
    # Every schedule with every number of micro-batches that it allows.
    model = Model("gpt2", GPT2, batch=24)
    for m in (1, 2, 3, 8):
        for schedule in ("gpipe", "1f1b", "zb-h1", "zb-v", "interleaved"):
            if schedule != "interleaved" or m % 4 == 0:
                model.check(f"--mesh pp=4 --microbatches {m} --schedule {schedule}")
elif table == "batch":
    # One batch of 32: 8 micro-batches of 4, 2 of 16, without pipeline.
    model = Model("gpt2", GPT2, batch=32)
    for flags in ("--mesh pp=2 --microbatches 8", "--mesh pp=2 --microbatches 2", "--microbatches 8", "--microbatches 2"):
        model.check(flags)
elif table == "norm":
    for model in (Model("gpt2", GPT2, batch=8), Model("llama", LLAMA, batch=8)):
        assert all(norm > 2 * CLIPPED["grad_clip"] for _, norm in model.one["losses"])
        # The weights do show it: clipped at another norm they are others.
        assert list(model.differences(model.run("", grad_clip=0.055)))
        for flags in ("--mesh pp=2,tp=2", "--mesh pp=2,tp=2 --microbatches 4 --sequence-parallel",
                      "--mesh pp=2,tp=4 --microbatches 2 --schedule zb-v", "--mesh pp=2,dp=2,tp=2 --schedule zb-h1"):
            model.check(flags)
