import torch
from torch import nn
from torch.nn import functional as F


def rel_shift(x):
    b, h, i, j = x.shape
    x = F.pad(x, (1, 0))
    x = x.view(b, h, j + 1, i)
    return x[:, :, 1:].view(b, h, i, j)


class Left(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.r = nn.Linear(dim, dim, bias=False)
        self.r_w_bias = nn.Parameter(torch.randn(heads, dim // heads))
        self.r_r_bias = nn.Parameter(torch.randn(heads, dim // heads))
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, positions):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, self.size) for y in self.qkv(x).chunk(3, dim=-1))
        r = self.r(positions).view(t, self.heads, self.size)
        ac = torch.einsum("bihd,bjhd->bhij", q + self.r_w_bias, k)
        bd = rel_shift(torch.einsum("bihd,jhd->bhij", q + self.r_r_bias, r))
        score = (ac + bd) / self.size**0.5
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        prob = score.masked_fill(mask, float("-inf")).softmax(-1)
        return self.out(torch.einsum("bhij,bjhd->bihd", prob, v).reshape(b, t, d))


def inputs():
    return torch.randn(2, 5, 8), torch.randn(5, 8)
