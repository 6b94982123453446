"""The contrastive loss of SimCLR (NT-Xent) over a projection head: one similarity matrix of both views, diagonal masked."""
import torch
from torch import nn
from torch.nn import functional as F

FEATURES, SIZE, TEMPERATURE = 8, 5, 0.5


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.projector = nn.Sequential(nn.Linear(FEATURES, 7), nn.ReLU(), nn.Linear(7, SIZE))

    def forward(self, first, second):
        n = first.shape[0]
        z = F.normalize(self.projector(torch.cat([first, second])), dim=-1)
        similarity = z @ z.T / TEMPERATURE
        itself = torch.eye(2 * n, dtype=torch.bool, device=z.device)
        similarity = similarity.masked_fill(itself, float("-inf"))
        partner = torch.cat([torch.arange(n) + n, torch.arange(n)])
        return F.cross_entropy(similarity, partner)


def inputs():
    return torch.randn(4, FEATURES), torch.randn(4, FEATURES)
