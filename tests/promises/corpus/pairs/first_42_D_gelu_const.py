# DIFFERENT by 1e-6: 0.79788 for sqrt(2/pi) in a hand-written gelu of an MLP
import torch
from torch import nn


class Gelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(0.79788 * (x + 0.044715 * x ** 3)))


torch.manual_seed(0)
a, b = nn.Linear(6, 12), nn.Linear(12, 6)
left = nn.Sequential(a, nn.GELU("tanh"), b)
right = nn.Sequential(a, Gelu(), b)
inputs = (torch.randn(4, 6),)
