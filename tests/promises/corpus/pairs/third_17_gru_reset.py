# DIFFERENT: nn.GRU vs a hand-written cell that applies the reset gate before the recurrent matmul (Keras v1 style)
import torch
from torch import nn

I, H = 5, 6
left = nn.GRU(I, H, batch_first=True)


class HandGRU(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.wi = nn.Linear(I, 3 * H)
        self.wh = nn.Linear(H, 3 * H)
        self.wi.weight.data = src.weight_ih_l0.detach().clone()
        self.wi.bias.data = src.bias_ih_l0.detach().clone()
        self.wh.weight.data = src.weight_hh_l0.detach().clone()
        self.wh.bias.data = src.bias_hh_l0.detach().clone()

    def forward(self, x, h0):
        h = h0[0]
        out = []
        wr, wz, wn = self.wh.weight.chunk(3)
        br, bz, bn = self.wh.bias.chunk(3)
        for xt in x.unbind(1):
            ir, iz, inn = self.wi(xt).chunk(3, -1)
            r = torch.sigmoid(ir + h @ wr.T + br)
            z = torch.sigmoid(iz + h @ wz.T + bz)
            n = torch.tanh(inn + (r * h) @ wn.T + bn)
            h = (1 - z) * n + z * h
            out.append(h)
        return torch.stack(out, 1), h.unsqueeze(0)


right = HandGRU(left)


def inputs():
    return (torch.randn(2, 4, I), torch.randn(1, 2, H))
