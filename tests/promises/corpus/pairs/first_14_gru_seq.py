# EQUAL. bidirectional nn.GRU (batch_first) vs loops over time with F.linear on its own weights
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rnn = nn.GRU(4, 3, batch_first=True, bidirectional=True)


class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = rnn

    def forward(self, x):
        return self.rnn(x)[0]


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = rnn

    def run(self, x, suffix, steps):
        r = self.rnn
        wi, wh = getattr(r, "weight_ih_l0" + suffix), getattr(r, "weight_hh_l0" + suffix)
        bi, bh = getattr(r, "bias_ih_l0" + suffix), getattr(r, "bias_hh_l0" + suffix)
        h = torch.zeros(x.shape[0], 3, dtype=x.dtype)
        xs = F.linear(x, wi, bi)
        out = [None] * x.shape[1]
        for t in steps:
            g = F.linear(h, wh, bh)
            xr, xz, xn = xs[:, t].chunk(3, 1)
            hr, hz, hn = g.chunk(3, 1)
            rt, zt = (xr + hr).sigmoid(), (xz + hz).sigmoid()
            nt = (xn + rt * hn).tanh()
            h = (1 - zt) * nt + zt * h
            out[t] = h
        return torch.stack(out, 1)

    def forward(self, x):
        n = x.shape[1]
        return torch.cat([self.run(x, "", range(n)), self.run(x, "_reverse", reversed(range(n)))], -1)


left, right = Left(), Right()
inputs = (torch.randn(2, 3, 4),)
