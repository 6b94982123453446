import math

import torch
from torch import nn


def slopes(heads):
    start = 2 ** (-8 / heads)
    return torch.tensor([start ** (i + 1) for i in range(heads)])


class AlibiAttention(nn.Module):
    """Scores fall off linearly with the distance to the key, head by head."""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim) for _ in range(4))
        self.register_buffer("slopes", slopes(heads), persistent=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        pos = torch.arange(t)
        distance = (pos[None, :] - pos[:, None]).to(x.dtype)
        bias = self.slopes.to(x.dtype)[:, None, None] * distance
        bias = bias.masked_fill(pos[None, :] > pos[:, None], float("-inf"))
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads) + bias
        return self.o_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


torch.manual_seed(0)
program = AlibiAttention().eval()
