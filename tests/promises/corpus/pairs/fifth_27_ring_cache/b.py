import math

import torch
from torch import nn


class RingDecode(nn.Module):
    """The newest key overwrites the oldest in its slot; softmax does not care for the order."""

    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, keys, values):
        q, k, v = (z.unflatten(-1, (self.heads, -1)) for z in self.qkv(x).chunk(3, dim=-1))
        slots = torch.arange(keys.shape[2])
        newest = (slots == 0)[:, None]
        keys = torch.where(newest, k[:, :, None], keys)
        values = torch.where(newest, v[:, :, None], values)
        scores = torch.einsum("bhd,bhsd->bhs", q, keys) / math.sqrt(q.shape[-1])
        return self.out(torch.einsum("bhs,bhsd->bhd", scores.softmax(-1), values).flatten(1))


torch.manual_seed(0)
program = RingDecode().eval()
