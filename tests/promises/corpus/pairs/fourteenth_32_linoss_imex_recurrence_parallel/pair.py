"""Oscillatory state space model with input-dependent steps: sequential recurrence, and a parallel (Hillis-Steele) scan that multiplies the 2×2 matrices in the wrong order."""
import torch
from torch import nn
from torch.nn import functional as F


class left(nn.Module):
    def __init__(self, d=3):
        super().__init__()
        self.freq = nn.Parameter(torch.rand(d) + 0.5)
        self.dt, self.inp, self.out = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def coefficients(self, u):
        dt = F.softplus(self.dt(u))
        a = self.freq.square()
        one = torch.ones_like(dt)
        m = torch.stack([torch.stack([one, -dt * a], -1), torch.stack([dt, 1 - dt * dt * a], -1)], -2)      # IMEX; (B, T, D, 2, 2)
        drive = self.inp(u)
        return m, torch.stack([dt * drive, dt * dt * drive], -1)

    def forward(self, u):
        m, f = self.coefficients(u)
        state, ys = torch.zeros_like(f[:, 0]), []
        for t in range(u.shape[1]):
            state = (m[:, t] @ state.unsqueeze(-1)).squeeze(-1) + f[:, t]
            ys.append(state[..., 1])
        return self.out(torch.stack(ys, 1))


class right(left):
    def forward(self, u):
        m, f = self.coefficients(u)
        n, shift = u.shape[1], 1
        while shift < n:
            later_m, later_f = m[:, shift:], f[:, shift:]
            early_m, early_f = m[:, :-shift], f[:, :-shift]
            new_f = torch.einsum("btdij,btdj->btdi", later_m, early_f) + later_f
            new_m = early_m @ later_m
            m, f = torch.cat([m[:, :shift], new_m], 1), torch.cat([f[:, :shift], new_f], 1)
            shift *= 2
        return self.out(f[..., 1])


def inputs():
    return (torch.randn(2, 5, 3),)
