# EQUAL
# xLSTM's sLSTM: exponential gates with the stabiliser state m, and without it
import torch
from torch import nn


class SLSTM(nn.Module):
    def __init__(self, d_in=5, d_hidden=4):
        super().__init__()
        self.d_hidden = d_hidden
        self.W = nn.Linear(d_in, 4 * d_hidden)
        self.R = nn.Linear(d_hidden, 4 * d_hidden, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        h = c = n = x.new_zeros(B, self.d_hidden)
        m = x.new_zeros(B, self.d_hidden)
        outs = []
        for t in range(T):
            i, f, z, o = (self.W(x[:, t]) + self.R(h)).chunk(4, dim=-1)
            m_new = torch.maximum(f + m, i)
            i_gate = torch.exp(i - m_new)
            f_gate = torch.exp(f + m - m_new)
            c = f_gate * c + i_gate * torch.tanh(z)
            n = f_gate * n + i_gate
            m = m_new
            h = torch.sigmoid(o) * c / n
            outs.append(h)
        return torch.stack(outs, dim=1)


class PlainSLSTM(nn.Module):
    """The equations (8)-(14) of the paper as they stand."""
    def __init__(self):
        super().__init__()
        ref = SLSTM()
        self.input, self.recurrent = ref.W, ref.R
        self.hidden = ref.d_hidden

    def forward(self, x):
        H = self.hidden
        state = [x.new_zeros(x.shape[0], H) for _ in range(3)]
        ys = []
        pre = self.input(x)
        for step in pre.unbind(1):
            c, n, h = state
            g = step + self.recurrent(h)
            inp, forget = g[:, :H].exp(), g[:, H:2 * H].exp()
            c = forget * c + inp * g[:, 2 * H:3 * H].tanh()
            n = forget * n + inp
            h = (c / n) * g[:, 3 * H:].sigmoid()
            state = [c, n, h]
            ys.append(h[:, None])
        return torch.cat(ys, dim=1)


left = SLSTM
right = PlainSLSTM


def inputs():
    return (torch.randn(3, 6, 5),)
