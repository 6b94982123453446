# EQUAL
# SmoothQuant: activations divided by s, weights multiplied by s, s folded into the norm before; nothing is rounded yet
import torch
from torch import nn
import torch.nn.functional as F


class MLPBlock(nn.Module):
    def __init__(self, dim=8, hidden=12):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        nn.init.normal_(self.ln.weight)
        nn.init.normal_(self.ln.bias)
        self.up, self.gate = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.ln(x)
        return x + self.down(F.relu(self.gate(h)) * self.up(h))


class Smoothed(nn.Module):
    def __init__(self):
        super().__init__()
        src = MLPBlock()
        act_scales = torch.linspace(0.5, 4.0, 8)
        w = torch.cat([src.gate.weight, src.up.weight]).detach()
        s = act_scales ** 0.5                                  # from a calibration run, migration strength 0.5
        self.ln = nn.LayerNorm(8)
        self.ln.weight.data = src.ln.weight.detach() / s
        self.ln.bias.data = src.ln.bias.detach() / s
        self.gate_up = nn.Linear(8, 24)
        self.gate_up.weight.data = w * s
        self.gate_up.bias.data = torch.cat([src.gate.bias, src.up.bias]).detach()
        # smooth between up and down as well: ReLU(gate) * up is linear in up
        t = torch.linspace(0.8, 1.3, 12)
        self.gate_up.weight.data[12:] /= t[:, None]
        self.gate_up.bias.data[12:] /= t
        self.down = nn.Linear(12, 8)
        self.down.weight.data = src.down.weight.detach() * t
        self.down.bias.data = src.down.bias.detach().clone()

    def forward(self, x):
        gate, up = self.gate_up(self.ln(x)).split(12, dim=-1)
        return self.down(gate.clamp_min(0) * up) + x


left, right = MLPBlock, Smoothed


def inputs():
    return (torch.randn(2, 5, 8),)
