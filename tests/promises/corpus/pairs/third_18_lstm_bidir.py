# EQUAL: nn.LSTM bidirectional vs hand-written cells with summed biases and reordered gates (i,o,f,g)
import torch
from torch import nn

I, H = 4, 5
left = nn.LSTM(I, H, batch_first=True, bidirectional=True)


class Cell(nn.Module):
    def __init__(self, wi, wh, bi, bh):
        super().__init__()
        order = torch.cat([torch.arange(0, H), torch.arange(3 * H, 4 * H), torch.arange(H, 2 * H), torch.arange(2 * H, 3 * H)])
        self.w = nn.Parameter(torch.cat([wi, wh], 1)[order].detach())
        self.b = nn.Parameter((bi + bh)[order].detach())

    def forward(self, x, h, c):
        z = torch.cat([x, h], -1) @ self.w.T + self.b
        s = torch.sigmoid(z[:, : 3 * H])
        i, o, f = s.split(H, -1)
        c = f * c + i * torch.tanh(z[:, 3 * H :])
        return o * torch.tanh(c), c


class BiLSTM(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.fwd = Cell(src.weight_ih_l0, src.weight_hh_l0, src.bias_ih_l0, src.bias_hh_l0)
        self.bwd = Cell(src.weight_ih_l0_reverse, src.weight_hh_l0_reverse, src.bias_ih_l0_reverse, src.bias_hh_l0_reverse)

    def run(self, cell, xs):
        h = c = xs[0].new_zeros(xs[0].shape[0], H)
        ys = []
        for x in xs:
            h, c = cell(x, h, c)
            ys.append(h)
        return ys, h, c

    def forward(self, x):
        xs = list(x.unbind(1))
        a, h1, c1 = self.run(self.fwd, xs)
        b, h2, c2 = self.run(self.bwd, xs[::-1])
        y = torch.stack([torch.cat(p, -1) for p in zip(a, b[::-1])], 1)
        return y, (torch.stack([h1, h2]), torch.stack([c1, c2]))


right = BiLSTM(left)


def inputs():
    return (torch.randn(2, 3, I),)
