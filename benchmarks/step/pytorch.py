#!/usr/bin/env python3
"""pytorch.py THREADS STEPS: the step of run.py in PyTorch."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

THREADS, STEPS = map(int, sys.argv[1:])
BATCH, SEQ, LAYERS, WIDTH, HEADS, VOCABULARY = 4, 256, 12, 768, 12, 50257
torch.set_num_threads(THREADS)
torch.manual_seed(0)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (y.view(BATCH, SEQ, HEADS, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(BATCH, SEQ, WIDTH))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(1024, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(SEQ))
        return functional.linear(self.norm(self.layers(x)), self.tokens.weight)


torch.set_flush_denormal(True)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
times = []
for _ in range(STEPS):
    ids = torch.randint(VOCABULARY, (BATCH, SEQ + 1))
    start = time.perf_counter()
    loss = functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    times.append(time.perf_counter() - start)
# The first step allocates.
median = statistics.median(times[1:]) * 1e3
print(f"PyTorch {torch.__version__}: median step {median:.0f} ms on {THREADS} threads")
