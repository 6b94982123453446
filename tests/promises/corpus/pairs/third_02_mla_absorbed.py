# EQUAL: DeepSeek MLA: up-projected keys and values vs weights absorbed into query and output (with shared rope key)
import torch
from torch import nn

D, H, NOPE, ROPE, V, RANK = 16, 2, 4, 4, 4, 6


def rope(x, theta=10000.0):
    # x: [..., T, R], neox halves
    t, r = x.shape[-2], x.shape[-1]
    inv = 1.0 / theta ** (torch.arange(0, r, 2).to(x.dtype) / r)
    ang = torch.outer(torch.arange(t).to(x.dtype), inv)
    cos, sin = torch.cat([ang, ang], -1).cos(), torch.cat([ang, ang], -1).sin()
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class RMS(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(n) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class MLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * (NOPE + ROPE), bias=False)
        self.kv_a = nn.Linear(D, RANK + ROPE, bias=False)
        self.kv_norm = RMS(RANK)
        self.kv_b = nn.Linear(RANK, H * (NOPE + V), bias=False)
        self.o_proj = nn.Linear(H * V, D, bias=False)
        self.scale = (NOPE + ROPE) ** -0.5

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, H, NOPE + ROPE).transpose(1, 2)
        q_nope, q_pe = q.split([NOPE, ROPE], -1)
        c, k_pe = self.kv_a(x).split([RANK, ROPE], -1)
        kv = self.kv_b(self.kv_norm(c)).view(b, t, H, NOPE + V).transpose(1, 2)
        k_nope, v = kv.split([NOPE, V], -1)
        q = torch.cat([q_nope, rope(q_pe)], -1)
        k_pe = rope(k_pe.unsqueeze(1)).expand(-1, H, -1, -1)
        k = torch.cat([k_nope, k_pe], -1)
        s = q @ k.transpose(-1, -2) * self.scale
        s = s.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf"))
        o = s.softmax(-1) @ v
        return self.o_proj(o.transpose(1, 2).reshape(b, t, H * V))


class Absorbed(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.wq = nn.Linear(D, H * (NOPE + ROPE), bias=False)
        self.wkv_a = nn.Linear(D, RANK + ROPE, bias=False)
        self.norm = RMS(RANK)
        self.wkv_b = nn.Parameter(src.kv_b.weight.detach().clone())
        self.wo = nn.Linear(H * V, D, bias=False)
        self.wq.load_state_dict(src.q_proj.state_dict())
        self.wkv_a.load_state_dict(src.kv_a.state_dict())
        self.norm.load_state_dict(src.kv_norm.state_dict())
        self.wo.load_state_dict(src.o_proj.state_dict())

    def forward(self, x):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, H, NOPE + ROPE)
        q_nope, q_pe = q[..., :NOPE], q[..., NOPE:]
        q_pe = rope(q_pe.transpose(1, 2)).transpose(1, 2)
        c = self.wkv_a(x)
        latent, pe = self.norm(c[..., :RANK]), rope(c[..., RANK:])
        w = self.wkv_b.view(H, NOPE + V, RANK)
        q_lat = torch.einsum("bthd,hdc->bthc", q_nope, w[:, :NOPE])
        s = torch.einsum("bthc,bsc->bths", q_lat, latent) + torch.einsum("bthr,bsr->bths", q_pe, pe)
        s = s / (NOPE + ROPE) ** 0.5
        causal = torch.full((t, t), float("-inf"), dtype=x.dtype).triu_(1)
        p = (s + causal.unsqueeze(1)).softmax(-1)
        o = torch.einsum("bths,bsc->bthc", p, latent)
        o = torch.einsum("bthc,hdc->bthd", o, w[:, -V:])
        return self.wo(o.flatten(2))


left = MLA()
right = Absorbed(left)


def inputs():
    return (torch.randn(2, 5, D),)
