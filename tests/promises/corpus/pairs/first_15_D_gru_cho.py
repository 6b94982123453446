# DIFFERENT. nn.GRUCell applies the reset gate after the matmul; this "by hand" applies it before (Cho et al. v1)
import torch
from torch import nn

torch.manual_seed(0)
left = nn.GRUCell(4, 3)


class HandGRU(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wi, self.wh = nn.Parameter(c.weight_ih.detach().T.clone()), nn.Parameter(c.weight_hh.detach().T.clone())
        self.bi, self.bh = nn.Parameter(c.bias_ih.detach().clone()), nn.Parameter(c.bias_hh.detach().clone())

    def forward(self, x, h):
        H = h.shape[-1]
        gi = x @ self.wi + self.bi
        gh = h @ self.wh[:, :2 * H] + self.bh[:2 * H]
        r = torch.sigmoid(gi[:, :H] + gh[:, :H])
        z = torch.sigmoid(gi[:, H:2 * H] + gh[:, H:])
        n = torch.tanh(gi[:, 2 * H:] + (r * h) @ self.wh[:, 2 * H:] + self.bh[2 * H:])
        return (1 - z) * n + z * h


right = HandGRU(left)
inputs = (torch.randn(2, 4), torch.randn(2, 3))
