# EQUAL
"""Multi-head latent attention of DeepSeek: keys and values expanded, and the decode form with the matrices absorbed."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(25)
D, H, NOPE, ROPE, VDIM, RANK = 20, 3, 6, 4, 5, 8


def rope(x, pos):
    half = x.shape[-1] // 2
    freq = 10000.0 ** (-torch.arange(half) / half)
    ang = pos[:, None] * freq
    cos, sin = ang.cos(), ang.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Naive(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(D, H * (NOPE + ROPE), bias=False)
        self.wkv_a = nn.Linear(D, RANK + ROPE, bias=False)
        self.kv_norm = RMSNorm(RANK)
        self.wkv_b = nn.Linear(RANK, H * (NOPE + VDIM), bias=False)
        self.wo = nn.Linear(H * VDIM, D, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        pos = torch.arange(t)
        q = self.wq(x).view(b, t, H, NOPE + ROPE).transpose(1, 2)
        q_nope, q_pe = q.split([NOPE, ROPE], -1)
        q_pe = rope(q_pe, pos)
        kv, k_pe = self.wkv_a(x).split([RANK, ROPE], -1)
        k_pe = rope(k_pe.unsqueeze(1), pos).expand(-1, H, -1, -1)
        kv = self.wkv_b(self.kv_norm(kv)).view(b, t, H, NOPE + VDIM).transpose(1, 2)
        k_nope, v = kv.split([NOPE, VDIM], -1)
        q, k = torch.cat([q_nope, q_pe], -1), torch.cat([k_nope, k_pe], -1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).flatten(2))


class Absorbed(nn.Module):
    def __init__(self, naive):
        super().__init__()
        w = naive.wkv_b.weight.detach().view(H, NOPE + VDIM, RANK)
        self.w_uk = nn.Parameter(w[:, :NOPE].contiguous())
        self.w_uv = nn.Parameter(w[:, NOPE:].contiguous())
        self.wq, self.wkv_a, self.norm, self.wo = naive.wq, naive.wkv_a, naive.kv_norm, naive.wo

    def forward(self, x):
        b, t, _ = x.shape
        pos = torch.arange(t)
        q = self.wq(x).unflatten(-1, (H, NOPE + ROPE))
        q_pe = rope(q[..., NOPE:].transpose(1, 2), pos)
        q_lat = torch.einsum("bthd,hdr->bhtr", q[..., :NOPE], self.w_uk)
        a = self.wkv_a(x)
        c = self.norm(a[..., :RANK])
        k_pe = rope(a[..., RANK:], pos)
        s = torch.einsum("bhtr,bsr->bhts", q_lat, c) + torch.einsum("bhtd,bsd->bhts", q_pe, k_pe)
        s = s * (NOPE + ROPE) ** -0.5
        s = s + torch.full((t, t), float("-inf")).triu_(1)
        lat = s.softmax(dim=-1) @ c.unsqueeze(1)
        y = torch.einsum("bhtr,hdr->bthd", lat, self.w_uv)
        return self.wo(y.reshape(b, t, H * VDIM))


left = Naive().eval()
right = Absorbed(left).eval()
inputs = (torch.randn(2, 6, D),)
