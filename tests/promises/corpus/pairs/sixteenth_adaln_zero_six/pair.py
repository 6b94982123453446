"""adaLN modulation: one linear of width 6 D, or six named ones."""
import math

import torch
from torch import nn
from torch.nn import functional as F

D, HID = 8, 12
NAMES = ("shift_a", "scale_a", "gate_a", "shift_m", "scale_m", "gate_m")


class Chunked(nn.Module):
    def __init__(self):
        super().__init__()
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(D, 6 * D))
        self.norm1 = nn.LayerNorm(D, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(D, elementwise_affine=False, eps=1e-6)
        self.mix = nn.Linear(D, D)
        self.fc1, self.fc2 = nn.Linear(D, HID), nn.Linear(HID, D)

    def forward(self, x, c):
        sa, ca, ga, sm, cm, gm = self.ada(c).unsqueeze(1).chunk(6, dim=2)
        x = x + ga * self.mix(self.norm1(x) * (1 + ca) + sa)
        return x + gm * self.fc2(F.gelu(self.fc1(self.norm2(x) * (1 + cm) + sm), approximate="tanh"))


class Named(nn.Module):
    def __init__(self, ref):
        super().__init__()
        for name, w, b in zip(NAMES, ref.ada[1].weight.chunk(6), ref.ada[1].bias.chunk(6)):
            layer = nn.Linear(D, D)
            layer.weight.data, layer.bias.data = w.detach().clone(), b.detach().clone()
            setattr(self, name, layer)
        self.mix, self.up, self.down = ref.mix, ref.fc1, ref.fc2

    def modulated(self, x, shift, scale):
        var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
        n = (x - mean) / (var + 1e-6).sqrt()
        return torch.addcmul(n + shift[:, None], n, scale[:, None])

    def forward(self, x, c):
        c = c * torch.sigmoid(c)
        h = self.mix(self.modulated(x, self.shift_a(c), self.scale_a(c)))
        x = torch.addcmul(x, self.gate_a(c)[:, None], h)
        u = self.up(self.modulated(x, self.shift_m(c), self.scale_m(c)))
        u = 0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3)))
        return torch.addcmul(x, self.gate_m(c)[:, None], self.down(u))


left = Chunked()
right = Named(left)
inputs = (torch.randn(2, 5, D), torch.randn(2, D))
