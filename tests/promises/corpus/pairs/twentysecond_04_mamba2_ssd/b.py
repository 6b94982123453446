"""The same mixer in its quadratic ("attention") form: y = (L ∘ C Bᵀ) Δx, with L = exp(segsum(Δ·A))."""

import torch
from torch import nn
from torch.nn import functional as F


def segsum(a):
    """Sums of a over (s, t] for t ≥ s, and −∞ above the diagonal: [..., T] → [..., T, T]."""
    T = a.size(-1)
    total = torch.cumsum(a, -1)
    difference = total[..., :, None] - total[..., None, :]
    return difference.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -torch.inf)


class SSDMixer(nn.Module):
    def __init__(self, d_model=10, heads=3, head_dim=4, state=5, d_conv=4):
        super().__init__()
        self.H, self.P, self.N, self.K = heads, head_dim, state, d_conv
        inner = heads * head_dim
        self.in_proj = nn.Linear(d_model, 2 * inner + 2 * state + heads, bias=False)
        self.conv1d = nn.Conv1d(inner + 2 * state, inner + 2 * state, d_conv, groups=inner + 2 * state, padding=d_conv - 1)
        self.dt_bias = nn.Parameter(torch.randn(heads))
        self.A_log = nn.Parameter(torch.rand(heads))
        self.D = nn.Parameter(torch.randn(heads))
        self.norm_weight = nn.Parameter(torch.randn(inner))
        self.out_proj = nn.Linear(inner, d_model, bias=False)

    def short_conv(self, v):
        """The depthwise causal convolution as shifted products."""
        T = v.shape[1]
        padded = F.pad(v, (0, 0, self.K - 1, 0))
        out = self.conv1d.bias
        for k in range(self.K):
            out = out + padded[:, k : k + T] * self.conv1d.weight[:, 0, k]
        return out * torch.sigmoid(out)

    def forward(self, u):
        inner = self.H * self.P
        proj = self.in_proj(u)
        z, dt = proj[..., :inner], proj[..., -self.H :]
        mixed = self.short_conv(proj[..., inner : -self.H])
        x = mixed[..., :inner].unflatten(-1, (self.H, self.P))
        Bm, Cm = mixed[..., inner : inner + self.N], mixed[..., inner + self.N :]
        dt = F.softplus(dt + self.dt_bias)
        L = torch.exp(segsum((-dt * self.A_log.exp()).transpose(1, 2)))          # [B, H, T, T]
        scores = (Cm @ Bm.mT)[:, None] * L
        y = torch.einsum("bhts,bshp->bthp", scores, x * dt[..., None]) + x * self.D[:, None]
        g = y.flatten(2) * z * torch.sigmoid(z)
        g = F.rms_norm(g, (inner,), self.norm_weight, eps=1e-5)
        return self.out_proj(g)
