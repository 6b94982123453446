import copy
import math

import torch
from torch import nn

torch.manual_seed(22)
BUCKETS, MAX_DISTANCE, HEADS, D = 32, 128, 2, 8


def t5_bucket(relative_position):
    n = -torch.min(relative_position, torch.zeros_like(relative_position))
    max_exact = BUCKETS // 2
    is_small = n < max_exact
    large = max_exact + (
        torch.log(n.float() / max_exact) / math.log(MAX_DISTANCE / max_exact) * (BUCKETS - max_exact)
    ).to(torch.long)
    large = torch.min(large, torch.full_like(large, BUCKETS - 1))
    return torch.where(is_small, n, large)


def clamp_bucket(relative_position):
    return (-relative_position).clamp(0, BUCKETS - 1)


class T5SelfAttention(nn.Module):
    bucket = staticmethod(t5_bucket)

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(D, D, bias=False)
        self.k = nn.Linear(D, D, bias=False)
        self.v = nn.Linear(D, D, bias=False)
        self.o = nn.Linear(D, D, bias=False)
        self.relative_attention_bias = nn.Embedding(BUCKETS, HEADS)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (m(x).view(b, t, HEADS, D // HEADS).transpose(1, 2) for m in (self.q, self.k, self.v))
        pos = torch.arange(t)
        bias = self.relative_attention_bias(self.bucket(pos[None, :] - pos[:, None])).permute(2, 0, 1)
        scores = q @ k.transpose(3, 2) + bias
        scores = scores.masked_fill(pos[None, :] > pos[:, None], float("-inf"))
        y = scores.softmax(-1) @ v
        return self.o(y.transpose(1, 2).reshape(b, t, D))


class Ported(T5SelfAttention):
    bucket = staticmethod(clamp_bucket)


left = T5SelfAttention()
right = Ported()
right.load_state_dict(copy.deepcopy(left.state_dict()))
inputs = (torch.randn(2, 9, D),)
