"""nGPT attention: both sides of the scores scaled, or the queries alone."""
import torch
from torch import nn
from torch.nn import functional as F

HEADS, D = 2, 4
WIDTH = HEADS * D


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.s_qk = nn.Parameter(torch.rand(HEADS, 1, D) + 0.5)
        self.alpha = nn.Parameter(torch.rand(WIDTH) * 0.2)

    def heads(self, y):
        return y.unflatten(-1, (HEADS, D)).transpose(1, 2)

    def forward(self, h):
        q = self.s_qk * F.normalize(self.heads(self.q(h)), dim=-1)
        k = self.s_qk * F.normalize(self.heads(self.k(h)), dim=-1)
        y = F.scaled_dot_product_attention(q, k, self.heads(self.v(h)), is_causal=True, scale=D**0.5)
        y = F.normalize(self.o(y.transpose(1, 2).flatten(2)), dim=-1)
        return F.normalize(h + self.alpha * (y - h), dim=-1)


class OneScale(Normalised):
    def unit(self, y):
        return y / y.norm(dim=-1, keepdim=True).clamp_min(1e-12)

    def forward(self, h):
        gain = self.s_qk.square() * D**0.5
        q, k = self.unit(self.heads(self.q(h))) * gain, self.unit(self.heads(self.k(h)))
        t = h.shape[1]
        hidden = torch.full((t, t), float("-inf")).triu(1)
        p = (q @ k.mT + hidden).softmax(-1)
        y = self.unit(self.o((p @ self.heads(self.v(h))).transpose(1, 2).flatten(2)))
        return self.unit((1 - self.alpha) * h + self.alpha * y)


def left():
    return Normalised()


def right():
    return OneScale()


def inputs():
    return (torch.randn(3, 5, WIDTH),)
