"""RealNVP density of a vector: couplings alternate between even and odd features."""
import math

import torch
from torch import nn


class ST(nn.Module):
    def __init__(self, half, hid=12):
        super().__init__()
        self.a, self.b = nn.Linear(half, hid), nn.Linear(hid, 2 * half)
        self.scale = nn.Parameter(torch.randn(half) * 0.3)

    def forward(self, x):
        s, t = self.b(torch.tanh(self.a(x))).chunk(2, -1)
        return torch.tanh(s) * self.scale, t


class RealNVP(nn.Module):
    def __init__(self, dim=6, depth=3):
        super().__init__()
        self.nets = nn.ModuleList(ST(dim // 2) for _ in range(depth))

    def forward(self, x):
        z = x.clone()
        logdet = x.new_zeros(x.shape[0])
        for i, net in enumerate(self.nets):
            keep, move = (slice(0, None, 2), slice(1, None, 2)) if i % 2 == 0 else (slice(1, None, 2), slice(0, None, 2))
            s, t = net(z[:, keep].clone())
            z[:, move] *= torch.exp(s)
            z[:, move] += t
            logdet += s.sum(1)
        prior = -0.5 * (z ** 2 + math.log(2 * math.pi)).sum(1)
        return z, prior + logdet


class PairedNVP(nn.Module):
    def __init__(self, src):
        super().__init__()
        for i, n in enumerate(src.nets):
            half = n.scale.numel()
            st = nn.Module()
            st.enc = nn.Linear(half, n.a.out_features)
            st.enc.load_state_dict(n.a.state_dict())
            w, b = n.b.weight.detach(), n.b.bias.detach()
            st.to_s, st.to_t = nn.Linear(w.shape[1], half), nn.Linear(w.shape[1], half)
            with torch.no_grad():
                st.to_s.weight.copy_(w[:half]); st.to_s.bias.copy_(b[:half])
                st.to_t.weight.copy_(w[half:]); st.to_t.bias.copy_(b[half:])
            st.gain = nn.Parameter(n.scale.detach().clone())
            setattr(self, f"flow{i}", st)
        self.depth = len(src.nets)

    def forward(self, x):
        D = x.shape[1]
        fixed, free = x.reshape(-1, D // 2, 2).unbind(-1)
        ldj = []
        for i in range(self.depth):
            st = getattr(self, f"flow{i}")
            h = torch.tanh(st.enc(fixed))
            ls = st.gain * torch.tanh(st.to_s(h))
            free = torch.exp(ls) * free + st.to_t(h)
            ldj.append(ls)
            fixed, free = free, fixed
        if self.depth % 2:
            fixed, free = free, fixed
        z = torch.stack((fixed, free), dim=-1).flatten(1)
        logp = torch.stack(ldj).sum((0, 2)) - z.square().sum(-1) / 2 - 0.5 * D * math.log(2 * math.pi)
        return z, logp


torch.manual_seed(0)
left = RealNVP()
right = PairedNVP(left)
inputs = (torch.randn(5, 6),)
