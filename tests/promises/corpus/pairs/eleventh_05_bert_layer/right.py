import math

import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=16, heads=4, hidden=32):
        super().__init__()
        theirs = Left(dim, heads, hidden).layer
        self.heads, self.size = heads, dim // heads
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        weights = theirs.self_attn.in_proj_weight.chunk(3)
        biases = theirs.self_attn.in_proj_bias.chunk(3)
        for linear, weight, bias in zip((self.query, self.key, self.value), weights, biases):
            linear.weight.data, linear.bias.data = weight.detach().clone(), bias.detach().clone()
        self.dense = theirs.self_attn.out_proj
        self.attention_norm, self.output_norm = theirs.norm1, theirs.norm2
        self.intermediate, self.output = theirs.linear1, theirs.linear2

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, hidden, lengths):
        mask = (torch.arange(hidden.size(1), device=hidden.device) < lengths.clamp(min=1)[:, None]).to(hidden.dtype)
        extended = (1.0 - mask[:, None, None, :]) * torch.finfo(hidden.dtype).min
        q, k, v = self.split(self.query(hidden)), self.split(self.key(hidden)), self.split(self.value(hidden))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size) + extended
        context = torch.matmul(scores.softmax(-1), v).permute(0, 2, 1, 3).flatten(2)
        hidden = self.attention_norm(self.dense(context) + hidden)
        return self.output_norm(self.output(F.gelu(self.intermediate(hidden))) + hidden)


def inputs():
    return torch.randn(3, 5, 16), torch.tensor([5, 2, 3])
