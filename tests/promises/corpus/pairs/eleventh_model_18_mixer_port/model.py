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


class Mlp(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class MixerBlock(nn.Module):
    def __init__(self, dim, tokens):
        super().__init__()
        self.norm1, self.mlp_tokens = nn.LayerNorm(dim, eps=1e-6), Mlp(tokens, 10)
        self.norm2, self.mlp_channels = nn.LayerNorm(dim, eps=1e-6), Mlp(dim, 32)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 4, 4)
        self.blocks = nn.Sequential(*[MixerBlock(16, 9) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(16, eps=1e-6), nn.Linear(16, 7)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


def original():
    return drawn(Mixer())


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.names = sorted(sd)
        for name in self.names:
            setattr(self, name.replace(".", "_"), param(sd, name))

    def norm(self, x, name):
        mean = x.mean(-1, keepdim=True)
        var = (x * x).mean(-1, keepdim=True) - mean * mean
        return (x - mean) * torch.rsqrt(var + 1e-6) * getattr(self, name + "_weight") + getattr(self, name + "_bias")

    def forward(self, images):
        x = torch.einsum("bchiwj,dcij->bhwd", images.unflatten(3, (3, 4)).unflatten(2, (3, 4)), self.stem_weight)
        x = x.flatten(1, 2) + self.stem_bias
        for i in range(2):
            get = lambda n: getattr(self, f"blocks_{i}_{n}")
            h = torch.einsum("btd,kt->bkd", self.norm(x, f"blocks_{i}_norm1"), get("mlp_tokens_fc1_weight")) + get("mlp_tokens_fc1_bias")[:, None]
            h = h * 0.5 * (1 + torch.erf(h * 2**-0.5))
            x = x + torch.einsum("bkd,tk->btd", h, get("mlp_tokens_fc2_weight")) + get("mlp_tokens_fc2_bias")[:, None]
            h = self.norm(x, f"blocks_{i}_norm2") @ get("mlp_channels_fc1_weight").T + get("mlp_channels_fc1_bias")
            h = h * 0.5 * (1 + torch.erf(h * 2**-0.5))
            x = x + h @ get("mlp_channels_fc2_weight").T + get("mlp_channels_fc2_bias")
        return self.norm(x, "norm").sum(1) / 9 @ self.head_weight.T + self.head_bias


def port():
    return Port(original().state_dict())


def inputs():
    return (torch.randn(2, 3, 12, 12),)
