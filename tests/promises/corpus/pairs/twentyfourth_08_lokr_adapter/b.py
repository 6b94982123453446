"""LoKr beside the frozen layer: the Kronecker product is never formed."""
import torch
from torch import nn


class LokrBypass(nn.Module):
    def __init__(self, in_features=12, out_features=10, rank=2, alpha=1.0):
        super().__init__()
        self.base = nn.Linear(in_features, out_features)
        self.lokr_w1 = nn.Parameter(torch.randn(2, 3))
        self.lokr_w2_a = nn.Parameter(torch.randn(5, rank))
        self.lokr_w2_b = nn.Parameter(torch.randn(rank, 4))
        self.alpha, self.rank = alpha, rank

    def forward(self, x):
        *lead, _ = x.shape
        groups = x.reshape(*lead, self.lokr_w1.shape[1], self.lokr_w2_b.shape[1])
        low = groups @ self.lokr_w2_b.mT
        high = low @ self.lokr_w2_a.mT                                # [..., 3, 5]
        mixed = torch.matmul(self.lokr_w1, high)                      # [..., 2, 5]
        return self.base(x) + mixed.reshape(*lead, -1) * (self.alpha / self.rank)
