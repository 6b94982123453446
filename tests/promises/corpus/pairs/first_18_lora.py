# EQUAL (up to rounding). LoRA on q and v of a small attention input, vs merged
import copy
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, fi, fo, r=4, alpha=8):
        super().__init__()
        self.base = nn.Linear(fi, fo)
        self.lora_A = nn.Parameter(torch.randn(r, fi) / fi ** 0.5)
        self.lora_B = nn.Parameter(torch.randn(fo, r) * 0.1)
        self.scaling = alpha / r
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        if not self.merged:
            y = y + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling
        return y

    @torch.no_grad()
    def merge(self):
        self.base.weight += (self.lora_B @ self.lora_A) * self.scaling
        self.merged = True
        del self.lora_A, self.lora_B
        return self


class QV(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = LoRALinear(10, 8)
        self.k = nn.Linear(10, 8)
        self.v = LoRALinear(10, 8)

    def forward(self, x):
        a = torch.softmax(self.q(x) @ self.k(x).transpose(1, 2) / 8 ** .5, -1)
        return a @ self.v(x)


torch.manual_seed(0)
left = QV()
right = copy.deepcopy(left)
right.q.merge()
right.v.merge()
inputs = (torch.randn(2, 4, 10),)
