import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=8, experts=6, k=2):
        super().__init__()
        self.k = k
        self.weight = nn.Parameter(torch.randn(experts, dim) * 0.3)
        self.e_score_correction_bias = nn.Parameter(0.1 * torch.randn(experts))

    def forward(self, x):
        scores = F.linear(x, self.weight).sigmoid()
        _, index = torch.topk(scores + self.e_score_correction_bias, self.k, dim=-1)
        gates = scores.gather(1, index)
        gates = gates / (gates.sum(dim=-1, keepdim=True) + 1e-20) * 2.5
        return index, gates


def inputs():
    return (torch.randn(5, 8),)
