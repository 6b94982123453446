# EQUAL: RWKV-4 time mixing: numerically stable wkv with running maximum (HF's torch path) vs direct weighted sums
import torch
from torch import nn

D = 6


class TimeMix(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_decay = nn.Parameter(torch.randn(D))
        self.time_first = nn.Parameter(torch.randn(D))
        self.mix_k, self.mix_v, self.mix_r = (nn.Parameter(torch.rand(1, 1, D)) for _ in range(3))
        self.key, self.value, self.receptance, self.output = (nn.Linear(D, D, bias=False) for _ in range(4))

    def kvr(self, x):
        prev = nn.functional.pad(x, (0, 0, 1, -1))
        k = self.key(x * self.mix_k + prev * (1 - self.mix_k))
        v = self.value(x * self.mix_v + prev * (1 - self.mix_v))
        r = torch.sigmoid(self.receptance(x * self.mix_r + prev * (1 - self.mix_r)))
        return k, v, r

    def forward(self, x):
        k, v, r = self.kvr(x)
        w = -torch.exp(self.time_decay)
        num = torch.zeros_like(k[:, 0])
        den = torch.zeros_like(k[:, 0])
        mx = torch.zeros_like(num) - 1e38
        out = torch.zeros_like(k)
        for i in range(x.shape[1]):
            ki, vi = k[:, i], v[:, i]
            m = torch.maximum(mx, ki + self.time_first)
            e1, e2 = torch.exp(mx - m), torch.exp(ki + self.time_first - m)
            out[:, i] = (e1 * num + e2 * vi) / (e1 * den + e2)
            m = torch.maximum(mx + w, ki)
            e1, e2 = torch.exp(mx + w - m), torch.exp(ki - m)
            num = e1 * num + e2 * vi
            den = e1 * den + e2
            mx = m
        return self.output(r * out)


class Direct(TimeMix):
    def forward(self, x):
        k, v, r = self.kvr(x)
        t = x.shape[1]
        outs = []
        for i in range(t):
            logw = [k[:, j] - (i - 1 - j) * torch.exp(self.time_decay) for j in range(i)]
            logw.append(k[:, i] + self.time_first)
            p = torch.softmax(torch.stack(logw, 1), 1)
            outs.append((p * v[:, : i + 1]).sum(1))
        return self.output(r * torch.stack(outs, 1))


left = TimeMix()
right = Direct()
right.load_state_dict(left.state_dict())


def inputs():
    return (torch.randn(2, 4, D),)
