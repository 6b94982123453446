# EQUAL: DoRA layer (PEFT form: base + scaled low rank, column norm) vs merged plain linear; plus LoRA on the next linear
import torch
from torch import nn
import torch.nn.functional as F

D, FF, R, ALPHA = 8, 10, 2, 4


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(D, FF)
        self.up_A, self.up_B = nn.Parameter(torch.randn(R, D)), nn.Parameter(torch.randn(FF, R) * 0.3)
        self.magnitude = nn.Parameter(torch.rand(FF) + 0.5)
        self.down = nn.Linear(FF, D)
        self.down_A, self.down_B = nn.Parameter(torch.randn(R, FF)), nn.Parameter(torch.randn(D, R) * 0.3)
        self.scaling = ALPHA / R

    def forward(self, x):
        base = F.linear(x, self.up.weight)
        lora = F.linear(F.linear(x, self.up_A), self.up_B) * self.scaling
        norm = torch.linalg.norm(self.up.weight + self.scaling * self.up_B @ self.up_A, dim=1)
        h = (self.magnitude / norm) * (base + lora) + self.up.bias
        h = F.gelu(h)
        return self.down(h) + (h @ self.down_A.T @ self.down_B.T) * self.scaling


class Merged(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.up, self.down = nn.Linear(D, FF), nn.Linear(FF, D)
        with torch.no_grad():
            w = src.up.weight + src.scaling * (src.up_B @ src.up_A)
            w = src.magnitude[:, None] * w / w.norm(p=2, dim=1, keepdim=True)
            self.up.weight.copy_(w)
            self.up.bias.copy_(src.up.bias)
            self.down.weight.copy_(src.down.weight + src.scaling * (src.down_B @ src.down_A))
            self.down.bias.copy_(src.down.bias)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


left = Adapted()
right = Merged(left)


def inputs():
    return (torch.randn(3, D),)
