"""A linear with several low-rank adapters; each token says which (or -1 for none). Adapter by adapter."""
import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, cin=8, cout=6, ranks=3, adapters=3):
        super().__init__()
        self.base = nn.Linear(cin, cout)
        self.A = nn.ParameterList([torch.randn(ranks, cin) for _ in range(adapters)])
        self.B = nn.ParameterList([torch.randn(cout, ranks) for _ in range(adapters)])
        self.scaling = [2.0, 1.0, 0.5]

    def forward(self, x, adapter):
        out = self.base(x)
        for i, (A, B) in enumerate(zip(self.A, self.B)):
            chosen = (adapter == i).unsqueeze(-1)
            delta = (x @ A.T) @ B.T * self.scaling[i]
            out = out + torch.where(chosen, delta, torch.zeros_like(delta))
        return out


def inputs():
    return torch.randn(2, 4, 8), torch.tensor([[0, 0, 2, -1], [1, -1, 2, 0]])
