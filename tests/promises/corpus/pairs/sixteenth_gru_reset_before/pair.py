"""nn.GRU unrolled for an engine without recurrent layers."""
import torch
from torch import nn

I, H = 5, 6


class Library(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(I, H, batch_first=True)

    def forward(self, x):
        out, last = self.rnn(x)
        return out, last.squeeze(0)


class Unrolled(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.w_ih = nn.Parameter(ref.rnn.weight_ih_l0.detach().clone())
        self.w_hh = nn.Parameter(ref.rnn.weight_hh_l0.detach().clone())
        self.b_ih = nn.Parameter(ref.rnn.bias_ih_l0.detach().clone())
        self.b_hh = nn.Parameter(ref.rnn.bias_hh_l0.detach().clone())

    def forward(self, x):
        w_r, w_z, w_n = self.w_hh.chunk(3)
        b_r, b_z, b_n = self.b_hh.chunk(3)
        gates = x @ self.w_ih.T + self.b_ih
        h = x.new_zeros(x.shape[0], H)
        outs = []
        for t in range(x.shape[1]):
            x_r, x_z, x_n = gates[:, t].chunk(3, dim=-1)
            r = torch.sigmoid(x_r + h @ w_r.T + b_r)
            z = torch.sigmoid(x_z + h @ w_z.T + b_z)
            n = torch.tanh(x_n + (r * h) @ w_n.T + b_n)
            h = (1 - z) * n + z * h
            outs.append(h)
        return torch.stack(outs, dim=1), h.clone()


left = Library()
right = Unrolled(left)
inputs = (torch.randn(3, 4, I),)
