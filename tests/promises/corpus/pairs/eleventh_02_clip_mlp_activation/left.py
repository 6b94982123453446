import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.c_fc(x)
        h = h * torch.sigmoid(1.702 * h)
        return x + self.c_proj(h)


def inputs():
    return (torch.randn(2, 5, 12),)
