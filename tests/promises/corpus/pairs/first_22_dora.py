# EQUAL (up to rounding). DoRA adapter vs merged weight
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
W = torch.randn(7, 9)
b = torch.randn(7)
A = torch.randn(3, 9) * .3
Bm = torch.randn(7, 3) * .3
mag = W.norm(p=2, dim=1) * (1 + 0.1 * torch.randn(7))
SCALE = 2.0


class DoRA(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(W); self.bias = nn.Parameter(b)
        self.lora_A = nn.Parameter(A); self.lora_B = nn.Parameter(Bm)
        self.m = nn.Parameter(mag)

    def forward(self, x):
        # peft: base result and lora result scaled by the magnitude
        delta = self.lora_B @ self.lora_A
        weight_norm = torch.linalg.norm(self.weight + SCALE * delta, dim=1)
        s = (self.m / weight_norm).view(1, -1)
        base = F.linear(x, self.weight)
        lora = F.linear(F.linear(x, self.lora_A), self.lora_B)
        return s * base + s * lora * SCALE + self.bias


@torch.no_grad()
def merged():
    V = W + SCALE * Bm @ A
    lin = nn.Linear(9, 7)
    lin.weight.copy_(V / V.norm(dim=1, keepdim=True) * mag[:, None])
    lin.bias.copy_(b)
    return lin


left = DoRA()
right = merged()
inputs = (torch.randn(5, 9),)
