# EQUAL.
"""nn.GRU over a sequence vs my own cell with the input projection hoisted out of the loop. EQUAL."""
import torch
from torch import nn


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 7, batch_first=True)

    def forward(self, x, h0):
        out, h = self.rnn(x, h0.unsqueeze(0))
        return out, h[0]


class MyGru(nn.Module):
    def __init__(self, g: nn.GRU):
        super().__init__()
        self.W = nn.Parameter(g.weight_ih_l0.detach().t().contiguous())   # 5 x 21
        self.U = nn.Parameter(g.weight_hh_l0.detach().t().contiguous())
        self.b = nn.Parameter(g.bias_ih_l0.detach().clone())
        self.c = nn.Parameter(g.bias_hh_l0.detach().clone())

    def forward(self, x, h0):
        gi = x @ self.W + self.b
        h, outs = h0, []
        for t in range(x.size(1)):
            gh = h @ self.U + self.c
            ir, iz, inn = gi[:, t].split(7, dim=-1)
            hr, hz, hn = gh.split(7, dim=-1)
            r = torch.sigmoid(ir + hr)
            z = torch.sigmoid(iz + hz)
            n = torch.tanh(inn + r * hn)
            h = n + z * (h - n)
            outs.append(h)
        return torch.stack(outs, dim=1), h


left = Gru()
right = MyGru(left.rnn)
inputs = (torch.randn(3, 4, 5), torch.randn(3, 7))
