"""Multi-head latent attention: naive (prefill) and absorbed (decode) form."""
import torch
from torch import nn

D, H, NOPE, ROPE, VD, RANK = 24, 3, 6, 4, 5, 8


def rotate(x):
    """x: b t ... ROPE, neighbours are pairs"""
    t = x.shape[1]
    freq = 10000.0 ** (-torch.arange(0, ROPE, 2, dtype=x.dtype) / ROPE)
    ang = torch.arange(t, dtype=x.dtype)[:, None] * freq
    ang = ang.view(t, *([1] * (x.dim() - 3)), ROPE // 2)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * ang.cos() - b * ang.sin(), a * ang.sin() + b * ang.cos()], dim=-1).flatten(-2)


class RMS(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(n) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Naive(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(D, H * (NOPE + ROPE), bias=False)
        self.wkv_a = nn.Linear(D, RANK + ROPE, bias=False)
        self.kv_norm = RMS(RANK)
        self.wkv_b = nn.Linear(RANK, H * (NOPE + VD), bias=False)
        self.wo = nn.Linear(H * VD, D, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, H, NOPE + ROPE)
        q = torch.cat([q[..., :NOPE], rotate(q[..., NOPE:])], dim=-1)
        c, k_pe = self.wkv_a(x).split([RANK, ROPE], dim=-1)
        kv = self.wkv_b(self.kv_norm(c)).view(b, t, H, NOPE + VD)
        k_nope, v = kv.split([NOPE, VD], dim=-1)
        k = torch.cat([k_nope, rotate(k_pe).unsqueeze(2).expand(-1, -1, H, -1)], dim=-1)
        s = torch.einsum("bshd,bthd->bhst", q, k) * (NOPE + ROPE) ** -0.5
        s = s + torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        y = torch.einsum("bhst,bthd->bshd", s.softmax(-1), v)
        return self.wo(y.flatten(2))


class Absorbed(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.wq, self.wkv_a, self.kv_norm, self.wo = ref.wq, ref.wkv_a, ref.kv_norm, ref.wo
        w = ref.wkv_b.weight.detach().view(H, NOPE + VD, RANK)
        self.w_uk = nn.Parameter(w[:, :NOPE].clone())
        self.w_uv = nn.Parameter(w[:, NOPE:].transpose(1, 2).contiguous())

    def forward(self, x):
        b, t, _ = x.shape
        q_nope, q_pe = self.wq(x).view(b, t, H, NOPE + ROPE).split([NOPE, ROPE], dim=-1)
        c, k_pe = self.wkv_a(x).split([RANK, ROPE], dim=-1)
        c, k_pe = self.kv_norm(c), rotate(k_pe)
        q_lat = torch.einsum("bshd,hdr->bshr", q_nope, self.w_uk)
        s = torch.einsum("bshr,btr->bhst", q_lat, c) + torch.einsum("bshp,btp->bhst", rotate(q_pe), k_pe)
        s = s / (NOPE + ROPE) ** 0.5
        s = s.masked_fill(torch.arange(t)[None, :] > torch.arange(t)[:, None], float("-inf"))
        y_lat = torch.einsum("bhst,btr->bshr", s.softmax(-1), c)
        return self.wo(torch.einsum("bshr,hrd->bshd", y_lat, self.w_uv).reshape(b, t, H * VD))


left = Naive()
right = Absorbed(left)
inputs = (torch.randn(2, 5, D),)
