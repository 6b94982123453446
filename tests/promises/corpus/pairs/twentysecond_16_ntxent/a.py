"""SimCLR's NT-Xent over both views at once: 2N rows, themselves masked out, the other view as the class (lightly, PL)."""

import torch
from torch import nn
from torch.nn import functional as F


class SimCLR(nn.Module):
    def __init__(self, features=9, hidden=10, out=6, temperature=0.2):
        super().__init__()
        self.projector = nn.Sequential(nn.Linear(features, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Linear(hidden, out))
        nn.init.normal_(self.projector[1].weight)
        nn.init.normal_(self.projector[1].bias)
        self.temperature = temperature

    def forward(self, view1, view2):
        N = view1.shape[0]
        z = F.normalize(self.projector(torch.cat([view1, view2])), dim=1)
        similarity = z @ z.t() / self.temperature
        itself = torch.eye(2 * N, dtype=torch.bool)
        logits = similarity.masked_fill(itself, float("-inf"))
        labels = (torch.arange(2 * N) + N) % (2 * N)
        return F.cross_entropy(logits, labels)


def inputs():
    return torch.randn(5, 9), torch.randn(5, 9)
