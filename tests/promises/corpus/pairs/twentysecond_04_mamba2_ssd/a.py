"""A Mamba-2 mixer, step by step: the state of each head decays by exp(Δ·A) and takes up Δ·x⊗B."""

import torch
from torch import nn
from torch.nn import functional as F


class GatedRMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.randn(dim)), eps

    def forward(self, x, z):
        x = x * F.silu(z)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Mamba2Mixer(nn.Module):
    def __init__(self, d_model=10, heads=3, head_dim=4, state=5, d_conv=4):
        super().__init__()
        self.H, self.P, self.N, self.d_conv = heads, head_dim, state, d_conv
        inner = heads * head_dim
        self.in_proj = nn.Linear(d_model, 2 * inner + 2 * state + heads, bias=False)
        self.conv1d = nn.Conv1d(inner + 2 * state, inner + 2 * state, d_conv, groups=inner + 2 * state, padding=d_conv - 1)
        self.dt_bias = nn.Parameter(torch.randn(heads))
        self.A_log = nn.Parameter(torch.rand(heads))
        self.D = nn.Parameter(torch.randn(heads))
        self.norm = GatedRMSNorm(inner)
        self.out_proj = nn.Linear(inner, d_model, bias=False)

    def forward(self, u):
        batch, T, _ = u.shape
        inner = self.H * self.P
        z, xBC, dt = self.in_proj(u).split([inner, inner + 2 * self.N, self.H], dim=-1)
        xBC = F.silu(self.conv1d(xBC.transpose(1, 2))[..., :T].transpose(1, 2))
        x, Bm, Cm = xBC.split([inner, self.N, self.N], dim=-1)
        dt = F.softplus(dt + self.dt_bias)
        A = -torch.exp(self.A_log)
        x = x.view(batch, T, self.H, self.P)
        state = u.new_zeros(batch, self.H, self.P, self.N)
        ys = []
        for t in range(T):
            decay = torch.exp(dt[:, t] * A)[..., None, None]
            state = state * decay + torch.einsum("bh,bn,bhp->bhpn", dt[:, t], Bm[:, t], x[:, t])
            ys.append(torch.einsum("bhpn,bn->bhp", state, Cm[:, t]) + self.D[:, None] * x[:, t])
        y = torch.stack(ys, 1).reshape(batch, T, inner)
        return self.out_proj(self.norm(y, z))


def inputs():
    return (torch.randn(2, 6, 10),)
