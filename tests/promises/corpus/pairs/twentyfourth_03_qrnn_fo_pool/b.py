"""Salesforce style: time first, a linear over [x[t-1], x[t]], and a forget-mult with the input gate 1 - f."""
import importlib.util
import os

import torch
from torch import nn

_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "a.py")
_spec = importlib.util.spec_from_file_location("qrnn_paper", _path)
_paper = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_paper)


def forget_mult(f, x, hidden):
    result = []
    for f_t, x_t in zip(f.unbind(0), x.unbind(0)):
        hidden = hidden + f_t * (x_t - hidden)
        result.append(hidden)
    return torch.stack(result)


class QRNNLayer(nn.Module):
    def __init__(self):
        super().__init__()
        conv = _paper.QRNN().conv
        w = conv.weight.detach()                                   # 3H x D x 2
        self.linear = nn.Linear(2 * w.shape[1], w.shape[0])
        self.linear.weight.data = torch.cat([w[:, :, 1], w[:, :, 0]], dim=1).contiguous()
        self.linear.bias.data = conv.bias.detach().clone()

    def forward(self, x, c0):
        X = x.transpose(0, 1)                                      # T x B x D
        Xm1 = torch.cat([torch.zeros_like(X[:1]), X[:-1]], dim=0)
        Y = self.linear(torch.cat([X, Xm1], dim=-1))
        H = Y.shape[-1] // 3
        Z, F, O = Y[..., :H], Y[..., H:2 * H], Y[..., 2 * H:]
        C = forget_mult(torch.sigmoid(-F), torch.tanh(Z), c0)
        return (torch.sigmoid(O) * C).transpose(0, 1), C[-1].clone()
