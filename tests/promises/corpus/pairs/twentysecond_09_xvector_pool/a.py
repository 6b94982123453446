"""An x-vector speaker encoder: frame layers, mean and standard deviation over time, two segment layers."""

import torch
from torch import nn
from torch.nn import functional as F


class XVector(nn.Module):
    def __init__(self, mels=8, hidden=10, embed=6):
        super().__init__()
        self.tdnn1 = nn.Conv1d(mels, hidden, 3)
        self.tdnn2 = nn.Conv1d(hidden, hidden, 3, dilation=2)
        self.tdnn3 = nn.Conv1d(hidden, 12, 1)
        self.segment6 = nn.Linear(24, embed)
        self.segment7 = nn.Linear(embed, embed)

    def forward(self, features):
        """features [B, T, mels] → embeddings [B, embed] of length one."""
        h = F.relu(self.tdnn1(features.transpose(1, 2)))
        h = F.relu(self.tdnn2(h))
        h = self.tdnn3(h)
        stats = torch.cat([h.mean(dim=2), h.std(dim=2)], dim=1)
        e = self.segment7(F.relu(self.segment6(stats)))
        return F.normalize(e, dim=-1)


def inputs():
    return (torch.randn(3, 17, 8),)
