"""LyCORIS LoKr, merged at load time: W + scale * kron(w1, w2a @ w2b)."""
import torch
from torch import nn
from torch.nn import functional as F


class LokrLinear(nn.Module):
    def __init__(self, in_features=12, out_features=10, rank=2, alpha=1.0):
        super().__init__()
        self.base = nn.Linear(in_features, out_features)
        self.lokr_w1 = nn.Parameter(torch.randn(2, 3))                # 2 x 3  (x)  5 x 4
        self.lokr_w2_a = nn.Parameter(torch.randn(5, rank))
        self.lokr_w2_b = nn.Parameter(torch.randn(rank, 4))
        self.scale = alpha / rank

    def get_weight(self):
        w2 = self.lokr_w2_a @ self.lokr_w2_b
        return torch.kron(self.lokr_w1, w2.contiguous()) * self.scale

    def forward(self, x):
        return F.linear(x, self.base.weight + self.get_weight(), self.base.bias)


def inputs():
    return (torch.randn(2, 5, 12),)
