# EQUAL
# Linear Recurrent Unit (diagonal complex): real and imaginary parts by hand, and as 2x2 rotations
import math
import torch
from torch import nn


class LRU(nn.Module):
    def __init__(self, d_model=4, d_state=6):
        super().__init__()
        self.nu_log = nn.Parameter(torch.log(-torch.log(torch.rand(d_state) * 0.4 + 0.5)))
        self.theta_log = nn.Parameter(torch.log(torch.rand(d_state) * math.pi))
        self.B_re = nn.Parameter(torch.randn(d_state, d_model) / math.sqrt(2 * d_model))
        self.B_im = nn.Parameter(torch.randn(d_state, d_model) / math.sqrt(2 * d_model))
        self.C_re = nn.Parameter(torch.randn(d_model, d_state) / math.sqrt(d_state))
        self.C_im = nn.Parameter(torch.randn(d_model, d_state) / math.sqrt(d_state))
        self.D = nn.Parameter(torch.randn(d_model))

    def forward(self, u):
        r = torch.exp(-torch.exp(self.nu_log))
        theta = torch.exp(self.theta_log)
        a, b = r * torch.cos(theta), r * torch.sin(theta)
        gamma = torch.sqrt(1 - r ** 2)
        bu_re, bu_im = (u @ self.B_re.T) * gamma, (u @ self.B_im.T) * gamma
        x_re = x_im = torch.zeros_like(bu_re[:, 0])
        ys = []
        for t in range(u.shape[1]):
            x_re, x_im = a * x_re - b * x_im + bu_re[:, t], a * x_im + b * x_re + bu_im[:, t]
            ys.append(x_re @ self.C_re.T - x_im @ self.C_im.T)
        return torch.stack(ys, 1) + self.D * u


class LRURotation(nn.Module):
    def __init__(self):
        super().__init__()
        p = LRU()
        self.nu_log, self.theta_log, self.skip = p.nu_log, p.theta_log, p.D
        self.B = nn.Parameter(torch.stack([p.B_re, p.B_im], dim=1).detach())       # [N, 2, D]
        self.C = nn.Parameter(torch.stack([p.C_re, p.C_im], dim=2).detach())       # [D, N, 2]

    def forward(self, u):
        decay = self.nu_log.exp().neg().exp()
        angle = self.theta_log.exp()
        cos, sin = angle.cos(), angle.sin()
        rot = decay[:, None, None] * torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
        drive = torch.einsum("nkd,btd->btnk", self.B, u) * (1 - decay * decay).sqrt()[:, None]
        state, states = torch.zeros_like(drive[:, 0]), []
        for d in drive.unbind(1):
            state = torch.einsum("nij,bnj->bni", rot, state) + d
            states.append(state)
        h = torch.stack(states, 1)
        conj = torch.tensor([1.0, -1.0], dtype=u.dtype)
        return torch.einsum("btnk,dnk->btd", h * conj, self.C) + u * self.skip


left = LRU
right = LRURotation


def inputs():
    return (torch.randn(2, 5, 4),)
