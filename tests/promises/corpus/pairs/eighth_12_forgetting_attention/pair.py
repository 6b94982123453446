"""Forgetting transformer: logits get the log of the product of the forget gates in between."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(22)


class FoX(nn.Module):
    def __init__(self, d=12, h=2):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.f = nn.Linear(d, h)

    def split(self, y):
        return y.unflatten(-1, (self.h, -1)).transpose(1, 2)


class FoXParallel(FoX):
    def forward(self, x):
        t = x.shape[1]
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        c = F.logsigmoid(self.f(x)).transpose(1, 2).cumsum(-1)
        bias = c.unsqueeze(-1) - c.unsqueeze(-2)
        bias = bias.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.o(y.transpose(1, 2).flatten(2))


class FoXDecode(FoX):
    def forward(self, x):
        gates = torch.sigmoid(self.f(x))
        q, k, v = self.q(x), self.k(x), self.v(x)
        b, t, d = x.shape
        dh = d // self.h
        rows, decay = [], []
        for i in range(t):
            decay = [w * gates[:, i] for w in decay] + [torch.ones_like(gates[:, i])]
            qi = q[:, i].view(b, self.h, dh)
            num = torch.zeros_like(qi)
            den = 0
            for j in range(i + 1):
                s = (qi * k[:, j].view(b, self.h, dh)).sum(-1) / dh ** 0.5
                w = torch.exp(s) * decay[j]
                num = num + w[..., None] * v[:, j].view(b, self.h, dh)
                den = den + w
            rows.append((num / den[..., None]).reshape(b, d))
        return self.o(torch.stack(rows, 1))


left = FoXParallel()
right = FoXDecode()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 5, 12),)
