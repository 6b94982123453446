# EQUAL. attention head by head (own weights per head, base-2 softmax as in flash kernels) vs batched
import math
import torch
from torch import nn

D, H, HD = 18, 3, 6
LOG2E = 1.4426950408889634


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(D, HD, bias=False)
        self.query = nn.Linear(D, HD, bias=False)
        self.value = nn.Linear(D, HD, bias=False)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        s = q @ k.transpose(-2, -1) * (HD ** -0.5 * math.log2(math.e))
        m = s.amax(-1, keepdim=True)
        p = torch.exp2(s - m)
        return (p @ v) / p.sum(-1, keepdim=True)


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(H)])
        self.proj = nn.Linear(D, D)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Batched(nn.Module):
    def __init__(self, mh):
        super().__init__()
        hs = mh.heads
        # (3, H, D, HD) for x @ w
        w = torch.stack([torch.stack([getattr(h, n).weight.detach().t() for h in hs]) for n in ("query", "key", "value")])
        self.w = nn.Parameter(w)
        self.o = nn.Parameter(mh.proj.weight.detach().view(D, H, HD).permute(1, 2, 0).contiguous())   # H HD D
        self.ob = nn.Parameter(mh.proj.bias.detach().clone())

    def forward(self, x):
        q, k, v = torch.einsum("btd,nhde->nbhte", x, self.w)
        a = torch.softmax(q @ k.mT / math.sqrt(HD), -1)
        return torch.einsum("bhts,bhse,heo->bto", a, v, self.o) + self.ob


torch.manual_seed(11)
left = MultiHead()
right = Batched(left)
inputs = (torch.randn(2, 7, D),)
