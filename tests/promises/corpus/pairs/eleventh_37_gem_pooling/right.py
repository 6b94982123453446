import torch
from torch import nn


class Right(nn.Module):
    def __init__(self, p=3.0, eps=1e-6):
        super().__init__()
        self.p = nn.Parameter(torch.full((1,), p))
        self.eps = eps

    def forward(self, features):
        logs = torch.log(torch.clamp(features, self.eps)).flatten(2)
        mean = torch.exp(self.p * logs).mean(-1)
        return torch.exp(torch.log(mean) / self.p)


def inputs():
    return (torch.randn(2, 4, 5, 3),)
