"""T5's encoder attention with relative position buckets, as in Transformers."""
import math

import torch
from torch import nn

WIDTH, HEADS, BUCKETS, FAR = 8, 2, 8, 12


class T5Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(BUCKETS, HEADS)

    @staticmethod
    def bucket(relative):
        half = BUCKETS // 2
        out = (relative > 0).long() * half
        relative = relative.abs()
        exact = half // 2
        far = exact + (torch.log(relative.float() / exact) / math.log(FAR / exact) * (half - exact)).long()
        far = torch.min(far, torch.full_like(far, half - 1))
        return out + torch.where(relative < exact, relative, far)

    def forward(self, x):
        batch, length, _ = x.shape
        context = torch.arange(length)[:, None]
        memory = torch.arange(length)[None, :]
        bias = self.relative_attention_bias(self.bucket(memory - context)).permute(2, 0, 1).unsqueeze(0)
        q, k, v = (p(x).view(batch, length, HEADS, -1).transpose(1, 2) for p in (self.q, self.k, self.v))
        weights = (q @ k.transpose(3, 2) + bias).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))


def inputs():
    return (torch.randn(2, 9, WIDTH),)
