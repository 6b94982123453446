# EQUAL. GPT-2 MLP with transformers' Conv1D + NewGELU vs Linear + gelu tanh
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D
from transformers.activations import ACT2FN


class GPT2MLP(nn.Module):
    def __init__(self, nx=12, n=48):
        super().__init__()
        self.c_fc = Conv1D(n, nx)
        self.c_proj = Conv1D(nx, n)
        nn.init.normal_(self.c_fc.weight, std=.3)
        nn.init.normal_(self.c_proj.weight, std=.3)
        nn.init.normal_(self.c_fc.bias)
        nn.init.normal_(self.c_proj.bias)
        self.act = ACT2FN["gelu_new"]

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


torch.manual_seed(5)
left = GPT2MLP()
right = nn.Sequential(nn.Linear(12, 48), nn.GELU(approximate="tanh"), nn.Linear(48, 12))
with torch.no_grad():
    right[0].weight.copy_(left.c_fc.weight.T); right[0].bias.copy_(left.c_fc.bias)
    right[2].weight.copy_(left.c_proj.weight.T); right[2].bias.copy_(left.c_proj.bias)
inputs = (torch.randn(3, 6, 12),)
