import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=8, experts=4, hidden=6, tasks=2):
        super().__init__()
        theirs = Left(dim, experts, hidden, tasks)
        stack = lambda tensors: nn.Parameter(torch.stack([t.detach() for t in tensors]))
        self.expert_kernel = stack([e[0].weight.T for e in theirs.experts])
        self.expert_bias = stack([e[0].bias for e in theirs.experts])
        self.gate_kernel = stack([g.weight.T for g in theirs.gates])
        self.hidden_kernel = stack([t[0].weight.T for t in theirs.towers])
        self.hidden_bias = stack([t[0].bias for t in theirs.towers])
        self.head_kernel = stack([t[2].weight[0] for t in theirs.towers])
        self.head_bias = stack([t[2].bias[0] for t in theirs.towers])

    def forward(self, x):
        experts = F.relu(torch.einsum("bi,eih->beh", x, self.expert_kernel) + self.expert_bias)
        gates = torch.einsum("bi,tie->bte", x, self.gate_kernel).softmax(-1)
        mixed = torch.einsum("bte,beh->bth", gates, experts)
        h = F.relu(torch.einsum("bth,tho->bto", mixed, self.hidden_kernel) + self.hidden_bias)
        logits = (h * self.head_kernel).sum(-1) + self.head_bias
        p = 1 / (1 + torch.exp(-logits))
        return tuple(p[:, task].clone() for task in range(p.shape[1]))


def inputs():
    return (torch.randn(5, 8),)
