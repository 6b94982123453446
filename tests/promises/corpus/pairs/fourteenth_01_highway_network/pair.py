"""Highway network (character CNN language models): AllenNLP's layer with one fused projection, and a port with two projections."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, dim=6, layers=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(dim, 2 * dim) for _ in range(layers)])
        for layer in self.layers:
            layer.bias.data[dim:].fill_(1.0)

    def forward(self, x):
        for layer in self.layers:
            nonlinear, gate = layer(x).chunk(2, dim=-1)
            nonlinear, gate = torch.relu(nonlinear), torch.sigmoid(gate)
            x = gate * x + (1 - gate) * nonlinear
        return x


class right(nn.Module):
    def __init__(self, dim=6, layers=2):
        super().__init__()
        theirs = left(dim, layers)
        self.transform, self.carry = nn.ModuleList(), nn.ModuleList()
        for layer in theirs.layers:
            h, c = nn.Linear(dim, dim), nn.Linear(dim, dim)
            h.weight.data, c.weight.data = layer.weight.data.split(dim)
            h.bias.data, c.bias.data = layer.bias.data.split(dim)
            self.transform.append(h)
            self.carry.append(c)

    def forward(self, x):
        for h, c in zip(self.transform, self.carry):
            x = torch.lerp(h(x).clamp(min=0), x, c(x).sigmoid())
        return x


def inputs():
    return (torch.randn(3, 5, 6),)
