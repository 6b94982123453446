# EQUAL.
"""LayerNorm's scale and shift folded into the linears that read it. EQUAL up to rounding."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, d=10):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias)
        self.gate = nn.Linear(d, 14, bias=False)
        self.up = nn.Linear(d, 14)
        self.down = nn.Linear(14, d)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Folded(nn.Module):
    def __init__(self, b):
        super().__init__()
        d = b.norm.normalized_shape[0]
        self.gate_up = nn.Linear(d, 28)
        self.down = b.down
        with torch.no_grad():
            w = torch.cat([b.gate.weight, b.up.weight])
            self.gate_up.weight.copy_(w * b.norm.weight)
            self.gate_up.bias.copy_(w @ b.norm.bias + torch.cat([torch.zeros(14), b.up.bias]))

    def forward(self, x):
        g, u = self.gate_up(F.layer_norm(x, x.shape[-1:])).chunk(2, -1)
        return x + self.down(g * torch.sigmoid(g) * u)


left = Block()
right = Folded(left)
inputs = (torch.randn(3, 4, 10),)
