# EQUAL
"""RWKV-4's time mixing: the numerically safe loop with a running maximum, and the formula of the paper."""
import torch
from torch import nn

torch.manual_seed(29)
C = 6


class TimeMix(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_decay = nn.Parameter(torch.randn(C) * 0.5)
        self.time_first = nn.Parameter(torch.randn(C) * 0.5)
        self.time_mix_k = nn.Parameter(torch.rand(C))
        self.time_mix_v = nn.Parameter(torch.rand(C))
        self.time_mix_r = nn.Parameter(torch.rand(C))
        self.key = nn.Linear(C, C, bias=False)
        self.value = nn.Linear(C, C, bias=False)
        self.receptance = nn.Linear(C, C, bias=False)
        self.output = nn.Linear(C, C, bias=False)

    def kvr(self, x):
        shifted = nn.functional.pad(x, (0, 0, 1, -1))
        k = self.key(x * self.time_mix_k + shifted * (1 - self.time_mix_k))
        v = self.value(x * self.time_mix_v + shifted * (1 - self.time_mix_v))
        r = self.receptance(x * self.time_mix_r + shifted * (1 - self.time_mix_r))
        return k, v, torch.sigmoid(r)


class Safe(TimeMix):
    def forward(self, x):
        k, v, r = self.kvr(x)
        b, t, c = x.shape
        w = -torch.exp(self.time_decay)
        num, den = torch.zeros(b, c), torch.zeros(b, c)
        top = torch.full((b, c), -1e38)
        out = []
        for i in range(t):
            kk, vv = k[:, i], v[:, i]
            m = torch.maximum(top, self.time_first + kk)
            e1, e2 = torch.exp(top - m), torch.exp(self.time_first + kk - m)
            out.append((e1 * num + e2 * vv) / (e1 * den + e2))
            m = torch.maximum(top + w, kk)
            e1, e2 = torch.exp(top + w - m), torch.exp(kk - m)
            num, den, top = e1 * num + e2 * vv, e1 * den + e2, m
        return self.output(r * torch.stack(out, 1))


class Paper(TimeMix):
    def forward(self, x):
        k, v, r = self.kvr(x)
        t = x.shape[1]
        i = torch.arange(t)
        behind = (i[:, None] - i[None, :] - 1).unsqueeze(-1)
        log_w = torch.where(behind >= 0, -behind * torch.exp(self.time_decay),
                            torch.where(behind == -1, self.time_first, float("-inf")))
        weight = torch.exp(log_w + k[:, None])               # b, t, s, c
        wkv = (weight * v[:, None]).sum(2) / weight.sum(2)
        return self.output(r * wkv)


left = Safe().eval()
right = Paper().eval()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 5, C),)
