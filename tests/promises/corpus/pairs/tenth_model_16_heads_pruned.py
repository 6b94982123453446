# EQUAL
"""A tabular/sequence encoder whose unimportant heads are gated off by a mask, and the same with these heads cut out."""
import math

import torch
from torch import nn

DIM, HEADS, HEAD, LAYERS = 32, 4, 8, 3
KEEP = {0: [0, 2], 1: [1, 2, 3], 2: [3]}      # Michel et al.: which heads survive, layer by layer


class SelfAttention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(DIM, heads * HEAD) for _ in range(3))
        self.o = nn.Linear(heads * HEAD, DIM)

    def forward(self, x, gate=None):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, self.heads, HEAD).transpose(1, 2) for f in (self.q, self.k, self.v))
        context = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(HEAD), -1) @ v
        if gate is not None:
            context = context * gate.view(1, -1, 1, 1)
        return self.o(context.transpose(1, 2).reshape(b, t, -1))


class Layer(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.attn, self.n1, self.n2 = SelfAttention(heads), nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.ff = nn.Sequential(nn.Linear(DIM, 48), nn.SiLU(), nn.Linear(48, DIM))

    def forward(self, x, gate=None):
        x = self.n1(x + self.attn(x, gate))
        return self.n2(x + self.ff(x))


class Encoder(nn.Module):
    def __init__(self, heads, gated):
        super().__init__()
        self.embed = nn.Linear(6, DIM)
        self.layers = nn.ModuleList(Layer(h) for h in heads)
        self.head = nn.Linear(DIM, 2)
        self.gated = gated

    def forward(self, x):
        x = self.embed(x)
        for i, layer in enumerate(self.layers):
            gate = None
            if self.gated:
                gate = torch.zeros(HEADS, dtype=x.dtype)
                gate[KEEP[i]] = 1.0
            x = layer(x, gate)
        return self.head(x.amax(1))


@torch.no_grad()
def prune(full):
    small = Encoder([len(KEEP[i]) for i in range(LAYERS)], gated=False)
    state = full.state_dict()
    for i, heads in KEEP.items():
        rows = torch.cat([torch.arange(h * HEAD, (h + 1) * HEAD) for h in heads])
        for n in "qkv":
            for kind in ("weight", "bias"):
                key = f"layers.{i}.attn.{n}.{kind}"
                state[key] = state[key][rows]
        key = f"layers.{i}.attn.o.weight"
        state[key] = state[key][:, rows]
    small.load_state_dict(state)
    return small


left = Encoder([HEADS] * LAYERS, gated=True)
right = prune(left)
inputs = (torch.randn(3, 7, 6),)
