"""Prints a random model, as model IR: layer functions that call each other, parameters that
several uses share, ops on parameters alone, results that only some calls use.

    random_model.py SEED
"""

import random
import sys

BATCH, SEQ, EMBED, MLP, VOCAB = 8, 4, 8, 6, 9


def tensor(*shape, t="f32"):
    return "!dtc.tensor<" + "x".join([*map(str, shape), t]) + ">"


X, H = tensor(BATCH, SEQ, EMBED), tensor(BATCH, SEQ, MLP)
I32, TOKENS = tensor(t="i32"), tensor(BATCH, SEQ, t="i32")
STREAM = 'dtc.dims = ["batch", "norm_seq", "embed"]'
HIDDEN = 'dtc.dims = ["batch", "seq", "mlp"]'
# Kinds of parameters: shape and names of dimensions.
KINDS = {
    "row": ((EMBED,), ["embed"]),
    "up": ((EMBED, MLP), ["embed", "mlp"]),
    "down": ((MLP, EMBED), ["mlp", "embed"]),
    "bias": ((MLP,), ["mlp"]),
    "table": ((VOCAB, EMBED), ["vocab", "embed"]),
}
# What random ops need, passed to every function.
AUX = {"%rng": tensor(2, t="i32"), "%layer": I32, "%rows": tensor(BATCH, t="i32"), "%pos": tensor(SEQ, t="i32")}


def kind_type(kind):
    return tensor(*KINDS[kind][0])


class Body:
    """Ops of one function. `param(kind)` names a parameter, new or known."""

    def __init__(self, rng, param, functions):
        self.rng, self.param, self.functions = rng, param, functions
        self.lines, self.count = [], 0

    def op(self, name, operands, types, result, attributes=""):
        self.count += 1
        value = f"%t{self.count}"
        attributes = f" {{{attributes}}}" if attributes else ""
        self.lines.append(f"{value} = dtc.{name} {operands}{attributes} : ({', '.join(types)}) -> {result}")
        return value

    def einsum(self, equation, x, x_type, kind, result, attributes=""):
        return self.op(f'einsum "{equation}"', f"({x}, {self.param(kind)})", [x_type, kind_type(kind)], result, attributes)

    def maybe(self, attributes):
        return attributes if self.rng.random() < 0.7 else ""

    def norm(self, x):
        if self.rng.random() < 0.5:
            return self.op("rms_norm", f"{x}, {self.param('row')}", [X, kind_type("row")], X, "epsilon = 1.0e-2")
        operands = f"{x}, {self.param('row')}, {self.param('row')}"
        return self.op("layer_norm", operands, [X, kind_type("row"), kind_type("row")], X, "epsilon = 1.0e-2, " + STREAM)

    def mlp(self, x, gate):
        h = self.einsum("bsd,df->bsf", x, X, "up", H, self.maybe(HIDDEN))
        if self.rng.random() < 0.5:
            h = self.op("add", f"{h}, {self.param('bias')}", [H, kind_type("bias")], H, self.maybe(HIDDEN))
        if gate:
            up = self.einsum("bsd,df->bsf", gate, X, "up", H)
            h = self.op("gated_product silu", f"{h}, {up}", [H, H], H)
        else:
            h = self.op("activation gelu", h, [H], H)
        return self.einsum("bsf,fd->bsd", h, H, "down", X, self.maybe(STREAM))

    def call(self, x):
        name, kinds = self.rng.choice(self.functions)
        operands = [x, *(self.param(k) for k in kinds), *AUX]
        types = [X, *map(kind_type, kinds), *AUX.values()]
        self.count += 1
        results = [f"%t{self.count}", f"%u{self.count}"]
        self.lines.append(
            f"{', '.join(results)} = func.call @{name}({', '.join(operands)}) : ({', '.join(types)}) -> ({X}, {X})"
        )
        return self.rng.choice([results[0], results[0], results[1]])

    def block(self, x):
        rng, values = self.rng, [x]
        for _ in range(rng.randint(1, 5)):
            a, b = rng.choice(values[-2:]), rng.choice(values)
            kind = rng.choice(["norm", "norm", "mlp", "gated", "call", "add", "scale", "multiply", "bias", "dropout", "mean"])
            if kind == "norm":
                v = self.norm(a)
            elif kind in ("mlp", "gated"):
                v = self.mlp(a, b if kind == "gated" else None)
            elif kind == "call" and self.functions:
                v = self.call(a)
            elif kind == "add":
                v = self.op("add", f"{a}, {b}", [X, X], X, self.maybe(STREAM))
            elif kind == "multiply":
                v = self.op("multiply", f"{a}, {b}", [X, X], X)
            elif kind == "bias":
                v = self.op("add", f"{a}, {self.param('row')}", [X, kind_type("row")], X)
            elif kind == "dropout":
                operands = f"{a} random {', '.join(AUX)}"
                v = self.op("dropout", operands, [X, *AUX.values()], X, f"p = 2.0e-1, site = {rng.randint(0, 15)} : i64")
            elif kind == "mean":
                total = self.op("reduce_sum", f"{a} over [2]", [X], tensor(BATCH, SEQ))
                v = self.op("broadcast", f"{total} along [2]", [tensor(BATCH, SEQ)], X)
                v = self.op("scale", f"{v} by 0.1", [X], X)
            else:
                v = self.op("scale", f"{a} by 0.5", [X], X)
            values.append(v)
        if rng.random() < 0.5:
            return self.op("add", f"{x}, {values[-1]}", [X, X], X, STREAM)
        return values[-1]


def layer_function(rng, name, functions):
    """Text of a function of two results, and the kinds of its parameters."""
    kinds = []

    def param(kind):
        known = [i for i, k in enumerate(kinds) if k == kind]
        if known and rng.random() < 0.3:
            return f"%p{rng.choice(known)}"
        kinds.append(kind)
        return f"%p{len(kinds) - 1}"

    body = Body(rng, param, functions)
    y = body.block("%x")
    z = body.block(y) if rng.random() < 0.5 else "%x"
    arguments = [f"%x: {X}", *(f"%p{i}: {kind_type(k)}" for i, k in enumerate(kinds)), *(f"{n}: {t}" for n, t in AUX.items())]
    lines = [f"func.func private @{name}({', '.join(arguments)}) -> ({X}, {X}) {{", *body.lines]
    return lines + [f"return {y}, {z} : {X}, {X}", "}"], kinds


def model(seed):
    rng = random.Random(seed)
    functions, text = [], []
    for i in range(rng.randint(1, 3)):
        inner = functions if rng.random() < 0.5 else []
        lines, kinds = layer_function(rng, f"layer{i}", inner)
        functions.append((f"layer{i}", kinds))
        text += lines

    params = []

    def param(kind):
        known = [n for n, k in params if k == kind]
        if known and rng.random() < 0.4:
            return "%" + rng.choice(known)
        params.append((f"w{len(params)}", kind))
        return "%" + params[-1][0]

    body = Body(rng, param, functions)
    table = param("table")
    x = body.op("embedding", f"{table}[%ids]", [kind_type("table"), TOKENS], X, STREAM)
    for _ in range(rng.randint(1, 4)):
        x = body.call(x) if rng.random() < 0.7 else body.block(x)
    gamma = body.op("scale", f"{param('row')} by 2.0", [kind_type("row")], kind_type("row"))
    x = body.op("rms_norm", f"{x}, {gamma}", [X, kind_type("row")], X, "epsilon = 1.0e-2")
    head = table if rng.random() < 0.5 else param("table")
    logits_type = tensor(BATCH, SEQ, VOCAB)
    logits = body.op('einsum "bsd,vd->bsv"', f"({x}, {head})", [X, kind_type("table")], logits_type, 'dtc.dims = ["batch", "seq", "vocab"]')
    total = "%sum"
    tail = Body(rng, param, functions)
    tail.count = body.count
    if rng.random() < 0.3:
        extra = tail.op("reduce_sum", f"{x} over [0, 1, 2]", [X], tensor())
        extra = tail.op("scale", f"{extra} by 0.01", [tensor()], tensor())
        total = tail.op("add", f"%sum, {extra}", [tensor(), tensor()], tensor())

    module = ["module {"]
    unused = [("unused", "row")] if rng.random() < 0.2 else []
    for name, kind in params + unused:
        shape, dims = KINDS[kind]
        indices = ", ".join(f"d{i}" for i in range(len(shape)))
        names = ", ".join(f'"{d}"' for d in dims)
        module.append(
            f'dtc.param @{name} : {kind_type(kind)} from "{name}" {list(shape)} '
            f'view affine_map<({indices}) -> ({indices})> dims [{names}] {{init = "normal", std = 0.4}}'
        )
    tokens = 'dtc.dims = ["batch", "seq"]'
    module += text
    module += [
        f'func.func @model(%ids: {TOKENS} {{dtc.input = "input_ids", {tokens}}}, '
        f'%labels: {TOKENS} {{dtc.input = "labels", {tokens}}}, %rng: {AUX["%rng"]} {{dtc.input = "rng"}})',
        f'    -> ({tensor()} {{dtc.output = "loss"}}, {I32} {{dtc.output = "labels"}}) {{',
        *(f"%{name} = dtc.read param of @{name} : {kind_type(kind)}" for name, kind in params),
        f'%pos = dtc.iota {{dtc.dims = ["seq"]}} : () -> {AUX["%pos"]}',
        f'%rows = dtc.iota {{dtc.dims = ["batch"]}} : () -> {AUX["%rows"]}',
        f"%layer = dtc.constant 3.0 : () -> {I32}",
        *body.lines,
        f"%sum, %lse = dtc.cross_entropy {logits}, %labels : ({logits_type}, {TOKENS}) -> ({tensor()}, {tensor(BATCH, SEQ)})",
        *tail.lines,
        f"%n = dtc.count_labels %labels : ({TOKENS}) -> {I32}",
        f"%loss = dtc.divide {total}, %n : ({tensor()}, {I32}) -> {tensor()}",
        f"return %loss, %n : {tensor()}, {I32}",
        "}",
        "}",
    ]
    return "\n".join(module) + "\n"


if __name__ == "__main__":
    print(model(int(sys.argv[1])), end="")
