# EQUAL. two LSTMCell steps by hand (i f g o, chunked, one concatenated matrix) vs nn.LSTM over the sequence
import torch
from torch import nn


class MyLSTM(nn.Module):
    """Karpathy-style: one matrix over [1, x, h]"""

    def __init__(self, lstm):
        super().__init__()
        self.hidden = lstm.hidden_size
        W = torch.cat([(lstm.bias_ih_l0 + lstm.bias_hh_l0)[:, None], lstm.weight_ih_l0, lstm.weight_hh_l0], 1)
        self.W = nn.Parameter(W.detach().t().clone())

    def forward(self, xs):
        T, B, _ = xs.shape
        h = xs.new_zeros(B, self.hidden)
        c = xs.new_zeros(B, self.hidden)
        out = []
        for t in range(T):
            z = torch.cat([xs.new_ones(B, 1), xs[t], h], dim=1) @ self.W
            i, f, g, o = z.split(self.hidden, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            out.append(h)
        return torch.stack(out), (h[None], c[None])


torch.manual_seed(2)
left = nn.LSTM(5, 4)
right = MyLSTM(left)
inputs = (torch.randn(4, 3, 5),)
