"""Quasi-recurrent layer as in the paper: a masked convolution of width 2, then fo-pooling."""
import torch
from torch import nn
from torch.nn import functional as F


class QRNN(nn.Module):
    def __init__(self, d_in=5, d_hidden=6, width=2):
        super().__init__()
        self.width = width
        self.conv = nn.Conv1d(d_in, 3 * d_hidden, width)

    def forward(self, x, c0):
        # x: B x T x D
        gates = self.conv(F.pad(x.transpose(1, 2), (self.width - 1, 0))).transpose(1, 2)
        z, f, o = gates.chunk(3, dim=-1)
        z, f, o = z.tanh(), f.sigmoid(), o.sigmoid()
        c, hs = c0, []
        for t in range(x.shape[1]):
            c = f[:, t] * c + (1 - f[:, t]) * z[:, t]
            hs.append(o[:, t] * c)
        return torch.stack(hs, dim=1), c


def inputs():
    return torch.randn(3, 6, 5), torch.randn(3, 6)
