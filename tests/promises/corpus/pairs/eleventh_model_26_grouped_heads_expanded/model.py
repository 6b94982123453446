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


def rope(x):
    T, d = x.shape[-2:]
    angles = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(16, eps=1e-6), nn.RMSNorm(16, eps=1e-6)
        self.q, self.k, self.v, self.o = nn.Linear(16, 24, bias=False), nn.Linear(16, 12, bias=False), nn.Linear(16, 12, bias=False), nn.Linear(24, 16, bias=False)
        self.gate, self.up, self.down = nn.Linear(16, 20, bias=False), nn.Linear(16, 20, bias=False), nn.Linear(20, 16, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        h = self.n1(x)
        q, k, v = self.q(h).view(B, T, 4, 6).transpose(1, 2), self.k(h).view(B, T, 2, 6).transpose(1, 2), self.v(h).view(B, T, 2, 6).transpose(1, 2)
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(B, T, 24))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.norm, self.head = nn.RMSNorm(16, eps=1e-6), nn.Linear(16, 40, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def original():
    return drawn(Model())


ORDER = [2, 0, 3, 1]                    # which of the old query heads stands where


class Expanded(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.embed, self.norm, self.head = param(sd, "embed.weight"), param(sd, "norm.weight"), param(sd, "head.weight")
        self.layers = nn.ModuleList()
        for i in range(2):
            p = f"layers.{i}."
            q = sd[p + "q.weight"].view(4, 6, 16)[ORDER]
            k, v = (sd[f"{p}{n}.weight"].view(2, 6, 16)[[j // 2 for j in ORDER]] for n in "kv")
            o = sd[p + "o.weight"].view(16, 4, 6)[:, ORDER]
            self.layers.append(nn.ParameterDict({
                "qkv": nn.Parameter(torch.cat([q, k, v]).reshape(72, 16).clone()),
                "o": nn.Parameter(o.reshape(16, 24).clone()),
                "gate_up": nn.Parameter(torch.cat([sd[p + "gate.weight"], sd[p + "up.weight"]])),
                "down": param(sd, p + "down.weight"),
                "n1": param(sd, p + "n1.weight"),
                "n2": param(sd, p + "n2.weight"),
            }))

    def forward(self, ids):
        x = self.embed[ids]
        B, T, _ = x.shape
        for w in self.layers:
            q, k, v = (F.rms_norm(x, (16,), w["n1"], 1e-6) @ w["qkv"].T).view(B, T, 3, 4, 6).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True)
            x = x + y.transpose(1, 2).flatten(2) @ w["o"].T
            gate, up = (F.rms_norm(x, (16,), w["n2"], 1e-6) @ w["gate_up"].T).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ w["down"].T
        return F.rms_norm(x, (16,), self.norm, 1e-6) @ self.head.T


def expanded():
    return Expanded(original().state_dict()).eval()


def inputs():
    return (torch.randint(0, 40, (2, 5)),)
