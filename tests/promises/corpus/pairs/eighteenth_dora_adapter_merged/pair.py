import torch
from torch import nn
from torch.nn import functional as F

SCALING = 2.0


class Adapter(nn.Module):
    """DoRA beside the frozen layer, the way PEFT computes it."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 6)
        self.lora_a = nn.Linear(8, 3, bias=False)
        self.lora_b = nn.Linear(3, 6, bias=False)
        self.magnitude = nn.Parameter(torch.rand(6) + 0.5)

    def forward(self, x):
        result = self.base(x)
        delta = self.lora_b.weight @ self.lora_a.weight
        norm = torch.linalg.vector_norm(self.base.weight + SCALING * delta, dim=1)
        scale = (self.magnitude / norm).view(1, 1, -1)
        without_bias = result - self.base.bias
        extra = (scale - 1) * without_bias + scale * self.lora_b(self.lora_a(x)) * SCALING
        return result + extra


class Merged(nn.Module):
    """One weight, with its direction and its length."""

    def __init__(self):
        super().__init__()
        theirs = Adapter()
        self.weight, self.bias = theirs.base.weight, theirs.base.bias
        self.down, self.up = theirs.lora_a.weight, theirs.lora_b.weight
        self.length = theirs.magnitude

    def forward(self, x):
        direction = torch.addmm(self.weight, self.up, self.down, alpha=SCALING)
        direction = direction / direction.pow(2).sum(dim=1, keepdim=True).sqrt()
        return F.linear(x, self.length[:, None] * direction, self.bias)


def example(B=2, T=5):
    return (torch.randn(B, T, 8),)


def inputs():
    return example()
