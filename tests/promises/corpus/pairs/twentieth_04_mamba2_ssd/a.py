"""Mamba-2's state space layer step by step, with heads and a gated norm."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, SIZE, STATE, LENGTH = 8, 2, 4, 3, 8


class Stepwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(WIDTH, 2 * HEADS * SIZE + 2 * STATE + HEADS, bias=False)
        self.dt_bias = nn.Parameter(torch.randn(HEADS))
        self.A_log = nn.Parameter(torch.rand(HEADS))
        self.D = nn.Parameter(torch.randn(HEADS))
        self.norm = nn.Parameter(torch.randn(HEADS * SIZE))
        self.out_proj = nn.Linear(HEADS * SIZE, WIDTH, bias=False)

    def project(self, u):
        z, x, B, C, dt = self.in_proj(u).split([HEADS * SIZE, HEADS * SIZE, STATE, STATE, HEADS], dim=-1)
        return z, x.unflatten(-1, (HEADS, SIZE)), B, C, F.softplus(dt + self.dt_bias)

    def finish(self, y, z):
        y = y.flatten(2) * F.silu(z)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5) * self.norm
        return self.out_proj(y)

    def forward(self, u):
        z, x, B, C, dt = self.project(u)
        A = -torch.exp(self.A_log)
        state = u.new_zeros(u.shape[0], HEADS, SIZE, STATE)
        ys = []
        for t in range(u.shape[1]):
            decay = torch.exp(dt[:, t] * A)
            write = torch.einsum("bh,bhp,bn->bhpn", dt[:, t], x[:, t], B[:, t])
            state = decay[..., None, None] * state + write
            ys.append(torch.einsum("bhpn,bn->bhp", state, C[:, t]) + self.D[:, None] * x[:, t])
        return self.finish(torch.stack(ys, dim=1), z)


def inputs():
    return (torch.randn(2, LENGTH, WIDTH),)
