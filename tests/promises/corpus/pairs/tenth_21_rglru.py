# DIFFERENT
# Griffin's real-gated linear recurrent unit
import torch
from torch import nn
import torch.nn.functional as F

C = 8.0


class RGLRU(nn.Module):
    def __init__(self, width=6, heads=2):
        super().__init__()
        self.heads = heads
        bw = width // heads
        self.a_param = nn.Parameter(torch.randn(width))
        self.w_x, self.b_x = nn.Parameter(torch.randn(heads, bw, bw)), nn.Parameter(torch.randn(heads, bw))
        self.w_a, self.b_a = nn.Parameter(torch.randn(heads, bw, bw)), nn.Parameter(torch.randn(heads, bw))

    def block_diagonal(self, x, w, b):
        b_, t, _ = x.shape
        y = torch.einsum("bthi,hij->bthj", x.view(b_, t, self.heads, -1), w) + b
        return y.reshape(b_, t, -1)

    def forward(self, x):
        gate_x = torch.sigmoid(self.block_diagonal(x, self.w_x, self.b_x))
        gate_a = torch.sigmoid(self.block_diagonal(x, self.w_a, self.b_a))
        log_a = -C * gate_a * F.softplus(self.a_param)
        a = torch.exp(log_a)
        multiplier = torch.sqrt(1 - torch.exp(2 * log_a))
        normed = x * gate_x * multiplier
        h, out = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            h = a[:, t] * h + normed[:, t]
            out.append(h)
        return torch.stack(out, dim=1)


class RGLRUPort(RGLRU):
    def forward(self, x):
        xs = x.unflatten(-1, (self.heads, -1)).unsqueeze(-2)
        i = (xs @ self.w_x + self.b_x.unsqueeze(1)).flatten(2).sigmoid()
        r = (xs @ self.w_a + self.b_a.unsqueeze(1)).flatten(2).sigmoid()
        a = torch.exp(-C * F.softplus(self.a_param) * r)
        b = torch.sqrt(1 - a) * (i * x)
        ys = [b[:, 0]]
        for t in range(1, x.size(1)):
            ys.append(a[:, t] * ys[-1] + b[:, t])
        return torch.stack(ys, 1)


left, right = RGLRU, RGLRUPort


def inputs():
    return (torch.randn(2, 5, 6),)
