# EQUAL: T5 relative position bias: HF bucket function with torch.where and log vs a python-int bucket table built at init, indexed per diagonal
import math
import torch
from torch import nn

H, DH, BUCKETS, MAXD, D = 2, 4, 8, 16, 8


def hf_bucket(rel, bidirectional, num_buckets, max_distance):
    out = 0
    if bidirectional:
        num_buckets //= 2
        out = out + (rel > 0).to(torch.long) * num_buckets
        rel = torch.abs(rel)
    else:
        rel = -torch.min(rel, torch.zeros_like(rel))
    exact = num_buckets // 2
    small = rel < exact
    large = exact + (
        torch.log(rel.float() / exact) / math.log(max_distance / exact) * (num_buckets - exact)
    ).to(torch.long)
    large = torch.min(large, torch.full_like(large, num_buckets - 1))
    return out + torch.where(small, rel, large)


class T5(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, H * DH, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(BUCKETS, H)

    def forward(self, x, mask):
        b, t, _ = x.shape
        sp = lambda y: y.view(b, t, H, DH).transpose(1, 2)
        q, k, v = sp(self.q(x)), sp(self.k(x)), sp(self.v(x))
        ctx = torch.arange(t)[:, None]
        mem = torch.arange(t)[None, :]
        bucket = hf_bucket(mem - ctx, True, BUCKETS, MAXD)
        bias = self.relative_attention_bias(bucket).permute(2, 0, 1).unsqueeze(0)
        ext = (1.0 - mask[:, None, None, :]) * torch.finfo(x.dtype).min
        s = torch.matmul(q, k.transpose(3, 2)) + (bias + ext)
        w = nn.functional.softmax(s, dim=-1)
        return self.o(torch.matmul(w, v).transpose(1, 2).contiguous().view(b, t, -1))


def int_bucket(d):
    half = BUCKETS // 2
    base = half if d > 0 else 0
    d = abs(d)
    exact = half // 2
    if d < exact:
        return base + d
    return base + min(half - 1, exact + int(math.log(d / exact) / math.log(MAXD / exact) * (half - exact)))


class Ported(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * H * DH, bias=False)
        self.qkv.weight.data = torch.cat([src.q.weight, src.k.weight, src.v.weight]).detach().clone()
        self.out = nn.Linear(H * DH, D, bias=False)
        self.out.weight.data = src.o.weight.detach().clone()
        self.rel = nn.Parameter(src.relative_attention_bias.weight.detach().clone())

    def forward(self, x, mask):
        b, t, _ = x.shape
        table = torch.tensor([int_bucket(d) for d in range(-(t - 1), t)])
        diag = self.rel[table].t()  # [H, 2t-1]
        bias = torch.stack([diag[:, t - 1 - i : 2 * t - 1 - i] for i in range(t)], 1)
        q, k, v = self.qkv(x).view(b, t, 3, H, DH).permute(2, 0, 3, 1, 4)
        s = torch.einsum("bhid,bhjd->bhij", q, k) + bias
        s = s.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        p = s.softmax(-1)
        return self.out(torch.einsum("bhij,bhjd->bihd", p, v).reshape(b, t, H * DH))


left = T5()
right = Ported(left)


def inputs():
    mask = torch.ones(2, 7)
    mask[1, 5:] = 0
    return (torch.randn(2, 7, D), mask)
