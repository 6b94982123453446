"""A DoRA adapter: a frozen linear, a low-rank update, a magnitude for each output."""
import torch
from torch import nn
from torch.nn import functional as F

D, R, SCALE = 8, 3, 2.0


class Dora(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(D, D)
        self.lora_a = nn.Parameter(torch.randn(R, D) * 0.3)
        self.lora_b = nn.Parameter(torch.randn(D, R) * 0.3)
        self.magnitude = nn.Parameter(torch.rand(D) + 0.5)

    def forward(self, x):
        delta = F.linear(F.linear(x, self.lora_a), self.lora_b) * SCALE
        adapted = self.base.weight + SCALE * self.lora_b @ self.lora_a
        factor = self.magnitude / torch.linalg.norm(adapted, dim=1)
        return factor * (F.linear(x, self.base.weight) + delta) + self.base.bias


class Merged(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.w = nn.Parameter(ref.base.weight.detach().T.contiguous())
        self.b, self.m = ref.base.bias, ref.magnitude
        self.down = nn.Parameter(ref.lora_a.detach().T.contiguous())
        self.up = nn.Parameter(ref.lora_b.detach().T.contiguous())

    def forward(self, x):
        full = self.w + SCALE * (self.down @ self.up)
        full = full / full.norm(dim=1, keepdim=True) * self.m
        return x @ full + self.b


left = Dora()
right = Merged(left)
inputs = (torch.randn(3, 5, D),)
