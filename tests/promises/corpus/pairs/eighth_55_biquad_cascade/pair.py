"""Learnable equaliser: two second-order sections over a mono signal, direct form I against transposed II."""
import torch
from torch import nn


class DirectFormI(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Parameter(torch.randn(2, 3) * 0.5)
        self.a = nn.Parameter(torch.randn(2, 2) * 0.2)

    def forward(self, x):                                    # B, T
        for b, a in zip(self.b, self.a):
            x1 = x2 = y1 = y2 = torch.zeros_like(x[:, 0])
            out = []
            for n in range(x.shape[1]):
                xn = x[:, n]
                yn = b[0] * xn + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2
                x2, x1 = x1, xn
                y2, y1 = y1, yn
                out.append(yn)
            x = torch.stack(out, 1)
        return x


class TransposedII(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.sos = nn.Parameter(torch.cat([src.b.detach(), src.a.detach()], 1))     # b0 b1 b2 a1 a2

    def forward(self, x):
        y = torch.empty_like(x)
        z = x.new_zeros(2, 2, x.shape[0])
        state = [[z[0, 0], z[0, 1]], [z[1, 0], z[1, 1]]]
        for n, s in enumerate(x.unbind(1)):
            for sec in range(2):
                b0, b1, b2, a1, a2 = self.sos[sec]
                o = b0 * s + state[sec][0]
                state[sec] = [b1 * s - a1 * o + state[sec][1], b2 * s - a2 * o]
                s = o
            y[:, n] = s
        return y


torch.manual_seed(0)
left = DirectFormI()
right = TransposedII(left)
inputs = (torch.randn(3, 12),)
