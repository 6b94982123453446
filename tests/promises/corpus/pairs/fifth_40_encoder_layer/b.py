import math

import torch
from torch import nn

from a import program as original


class Block(nn.Module):
    def __init__(self, dim=16, heads=4, width=24):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))
        self.fc, self.proj = nn.Linear(dim, width), nn.Linear(width, dim)

    def heads_of(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, padding):
        h = self.ln_1(x)
        q, k, v = (self.heads_of(f(h)) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        mixed = (scores.softmax(dim=-1) @ v).permute(0, 2, 1, 3).reshape(x.shape)
        x = x + self.output(mixed)
        h = self.fc(self.ln_2(x))
        return x + self.proj(h * 0.5 * (1 + torch.erf(h / math.sqrt(2))))


def convert(layer):
    state, new = layer.state_dict(), {}
    for kind in ("weight", "bias"):
        packed = state[f"self_attn.in_proj_{kind}"].chunk(3)
        new |= {f"{name}.{kind}": part for name, part in zip(("query", "key", "value"), packed)}
        new[f"output.{kind}"] = state[f"self_attn.out_proj.{kind}"]
        for old, name in (("norm1", "ln_1"), ("norm2", "ln_2"), ("linear1", "fc"), ("linear2", "proj")):
            new[f"{name}.{kind}"] = state[f"{old}.{kind}"]
    return new


program = Block().eval()
program.load_state_dict(convert(original.layer))
