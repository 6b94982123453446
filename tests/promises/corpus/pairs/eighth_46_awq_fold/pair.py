"""Activation-aware scaling: weights of fc1 are already scaled by s, activations are divided by s.
The second form folds 1/s into the norm, as the exporter does, and the scales of the second
projection into the rows of the first."""
import torch
import torch.nn.functional as F
from torch import nn


class ScaledMLP(nn.Module):
    def __init__(self, d=8, h=12):
        super().__init__()
        self.norm = nn.LayerNorm(d, eps=1e-5)
        nn.init.normal_(self.norm.weight, 1.0, 0.2)
        nn.init.normal_(self.norm.bias, 0.0, 0.2)
        self.s_in = nn.Parameter(torch.rand(d) + 0.5, requires_grad=False)
        self.s_mid = nn.Parameter(torch.rand(h) + 0.5, requires_grad=False)
        self.fc1, self.fc2 = nn.Linear(d, h), nn.Linear(h, d)

    def forward(self, x):
        y = self.norm(x) / self.s_in
        y = F.relu(self.fc1(y)) / self.s_mid
        return x + self.fc2(y)


class FoldedMLP(nn.Module):
    def __init__(self, src):
        super().__init__()
        d, h = src.fc1.in_features, src.fc1.out_features
        self.norm = nn.LayerNorm(d, eps=1e-5)
        self.up, self.down = nn.Linear(d, h), nn.Linear(h, d)
        with torch.no_grad():
            self.norm.weight.copy_(src.norm.weight / src.s_in)
            self.norm.bias.copy_(src.norm.bias / src.s_in)
            self.up.load_state_dict(src.fc1.state_dict())
            self.down.weight.copy_(src.fc2.weight / src.s_mid)
            self.down.bias.copy_(src.fc2.bias)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


torch.manual_seed(5)
left = ScaledMLP()
right = FoldedMLP(left)
inputs = (torch.randn(2, 5, 8),)
