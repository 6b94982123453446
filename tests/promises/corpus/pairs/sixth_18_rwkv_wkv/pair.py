import copy

import torch
from torch import nn

torch.manual_seed(13)


class TimeMix(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.time_decay = nn.Parameter(torch.randn(d))
        self.time_first = nn.Parameter(torch.randn(d))
        self.time_mix_k = nn.Parameter(torch.rand(1, 1, d))
        self.time_mix_v = nn.Parameter(torch.rand(1, 1, d))
        self.time_mix_r = nn.Parameter(torch.rand(1, 1, d))
        self.key = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d, bias=False)
        self.receptance = nn.Linear(d, d, bias=False)
        self.output = nn.Linear(d, d, bias=False)
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))

    def wkv(self, key, value):
        T = key.shape[1]
        output = torch.zeros_like(key)
        num = torch.zeros_like(key[:, 0])
        den = torch.zeros_like(key[:, 0])
        top = torch.zeros_like(key[:, 0]) - 1e38
        decay = -torch.exp(self.time_decay)
        for t in range(T):
            k, v = key[:, t], value[:, t]
            m = torch.maximum(top, k + self.time_first)
            e1, e2 = torch.exp(top - m), torch.exp(k + self.time_first - m)
            output[:, t] = (e1 * num + e2 * v) / (e1 * den + e2)
            m = torch.maximum(top + decay, k)
            e1, e2 = torch.exp(top + decay - m), torch.exp(k - m)
            num, den, top = e1 * num + e2 * v, e1 * den + e2, m
        return output

    def forward(self, x):
        xx = self.time_shift(x)
        k = self.key(x * self.time_mix_k + xx * (1 - self.time_mix_k))
        v = self.value(x * self.time_mix_v + xx * (1 - self.time_mix_v))
        r = torch.sigmoid(self.receptance(x * self.time_mix_r + xx * (1 - self.time_mix_r)))
        return self.output(r * self.wkv(k, v))


class PlainTimeMix(TimeMix):
    def wkv(self, k, v):
        T = k.shape[1]
        w = self.time_decay.exp()
        rows = []
        for t in range(T):
            bonus = torch.exp(self.time_first + k[:, t])
            num, den = bonus * v[:, t], bonus
            for s in range(t):
                weight = torch.exp(k[:, s] - (t - 1 - s) * w)
                num = num + weight * v[:, s]
                den = den + weight
            rows.append(num / den)
        return torch.stack(rows, 1)


left = TimeMix()
right = PlainTimeMix()
right.load_state_dict(copy.deepcopy(left.state_dict()))
inputs = (torch.randn(2, 4, 6),)
