import math

import torch
from torch import nn
from torch.nn import functional as F


def drawn(model, seed=0):
    """Weights of every parameter from a fixed seed, norms and biases too."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=g) * (p.shape[-1] ** -0.5 if p.ndim > 1 else 0.2))
            if p.ndim == 1 and name.endswith("weight"):
                p.add_(1.0)
    return model.eval()


def linear(sd, name, bias=True):
    w = sd[name + ".weight"]
    layer = nn.Linear(w.shape[1], w.shape[0], bias=bias)
    layer.weight.data.copy_(w)
    if bias:
        layer.bias.data.copy_(sd[name + ".bias"])
    return layer


def param(sd, name):
    return nn.Parameter(sd[name].clone())


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (f(h).unflatten(-1, (2, 8)).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.pos = nn.Linear(12, 16), nn.Parameter(torch.zeros(6, 16))
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, patches):
        x = self.patch(patches) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


def original():
    return drawn(Encoder())


class FoldedBlock(nn.Module):
    def __init__(self, old):
        super().__init__()
        self.qkv, self.fc1 = nn.Linear(16, 48), nn.Linear(16, 32)
        self.qkv.weight.data.copy_(torch.cat([f.weight for f in (old.q, old.k, old.v)]) * old.norm1.weight)
        self.qkv.bias.data.copy_(torch.cat([f.bias for f in (old.q, old.k, old.v)]))
        self.fc1.weight.data.copy_(old.fc1.weight * old.norm2.weight)
        self.fc1.bias.data.copy_(old.fc1.bias + old.fc1.weight @ old.norm2.bias)
        self.o, self.fc2 = old.o, old.fc2

    def forward(self, x):
        q, k, v = self.qkv(F.layer_norm(x, (16,))).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(F.layer_norm(x, (16,)))))


class Folded(nn.Module):
    def __init__(self, old):
        super().__init__()
        self.patch, self.pos, self.norm, self.head = old.patch, old.pos, old.norm, old.head
        self.blocks = nn.ModuleList([FoldedBlock(b) for b in old.blocks])

    def forward(self, patches):
        x = self.patch(patches) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


@torch.no_grad()
def folded():
    return Folded(original()).eval()


def inputs():
    return (torch.randn(3, 6, 12),)
