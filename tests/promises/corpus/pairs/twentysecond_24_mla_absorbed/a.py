"""Multi-head latent attention as DeepSeek's reference has it: keys and values of all heads are made from the latent."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.randn(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotate(x, theta=10000.0):
    """Neighbours as complex numbers. x [B, T, heads, d]."""
    T, d = x.shape[1], x.shape[-1]
    freqs = 1.0 / (theta ** (torch.arange(0, d, 2) / d))
    angles = torch.outer(torch.arange(T), freqs)
    turn = torch.polar(torch.ones_like(angles), angles)[None, :, None]
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(3)


class MLA(nn.Module):
    def __init__(self, dim=16, heads=3, q_rank=10, kv_rank=7, nope=6, rope=4, v=5):
        super().__init__()
        self.heads, self.kv_rank, self.nope, self.rope, self.v = heads, kv_rank, nope, rope, v
        self.wq_a = nn.Linear(dim, q_rank, bias=False)
        self.q_norm = RMSNorm(q_rank)
        self.wq_b = nn.Linear(q_rank, heads * (nope + rope), bias=False)
        self.wkv_a = nn.Linear(dim, kv_rank + rope, bias=False)
        self.kv_norm = RMSNorm(kv_rank)
        self.wkv_b = nn.Linear(kv_rank, heads * (nope + v), bias=False)
        self.wo = nn.Linear(heads * v, dim, bias=False)
        self.scale = (nope + rope) ** -0.5

    def forward(self, x):
        B, T, _ = x.shape
        q = self.wq_b(self.q_norm(self.wq_a(x))).view(B, T, self.heads, -1)
        q_nope, q_pe = q.split([self.nope, self.rope], dim=-1)
        q = torch.cat([q_nope, rotate(q_pe)], dim=-1)
        latent, k_pe = self.wkv_a(x).split([self.kv_rank, self.rope], dim=-1)
        k_pe = rotate(k_pe.unsqueeze(2))
        kv = self.wkv_b(self.kv_norm(latent)).view(B, T, self.heads, -1)
        k_nope, v = kv.split([self.nope, self.v], dim=-1)
        k = torch.cat([k_nope, k_pe.expand(-1, -1, self.heads, -1)], dim=-1)
        scores = torch.einsum("bshd,bthd->bsht", q, k) * self.scale
        mask = torch.full((T, T), float("-inf")).triu_(1)
        probs = (scores + mask.unsqueeze(1)).softmax(dim=-1)
        out = torch.einsum("bsht,bthd->bshd", probs, v)
        return self.wo(out.flatten(2))


def inputs():
    return (torch.randn(2, 5, 16),)
