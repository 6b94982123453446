# EQUAL.
"""HF-style llama attention (rotate_half) vs Meta-style (complex pairs) with un-permuted q/k weights. EQUAL."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

D, H, KV, HD = 24, 4, 2, 6


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(x, n):
    b, h, t, d = x.shape
    return x[:, :, None].expand(b, h, n, t, d).reshape(b, h * n, t, d)


class HFAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * HD, bias=False)
        self.k_proj = nn.Linear(D, KV * HD, bias=False)
        self.v_proj = nn.Linear(D, KV * HD, bias=False)
        self.o_proj = nn.Linear(H * HD, D, bias=False)
        inv = 1.0 / (10000 ** (torch.arange(0, HD, 2).float() / HD))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, H, HD).transpose(1, 2)
        k = self.k_proj(x).view(B, T, KV, HD).transpose(1, 2)
        v = self.v_proj(x).view(B, T, KV, HD).transpose(1, 2)
        pos = torch.arange(T, device=x.device)
        freqs = pos[:, None] * self.inv_freq[None]
        emb = torch.cat((freqs, freqs), -1)
        cos, sin = emb.cos(), emb.sin()
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, H // KV), repeat_kv(v, H // KV)
        w = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(HD)
        m = torch.full((T, T), torch.finfo(x.dtype).min, dtype=x.dtype, device=x.device).triu(1)
        w = F.softmax(w + m, dim=-1)
        return self.o_proj((w @ v).transpose(1, 2).reshape(B, T, -1))


def unpermute(w, heads):
    # half layout (heads, 2, hd/2, dim) -> interleaved (heads, hd/2, 2, dim)
    return w.view(heads, 2, HD // 2, D).transpose(1, 2).reshape(heads * HD, D).contiguous()


class MetaAttention(nn.Module):
    def __init__(self, hf):
        super().__init__()
        self.wq = nn.Parameter(unpermute(hf.q_proj.weight.data, H))
        self.wk = nn.Parameter(unpermute(hf.k_proj.weight.data, KV))
        self.wv = nn.Parameter(hf.v_proj.weight.data.clone())
        self.wo = nn.Parameter(hf.o_proj.weight.data.clone())
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, HD, 2).float() / HD)), persistent=False)

    def rope(self, x):  # b t h d
        t = torch.arange(x.shape[1])
        ang = torch.outer(t.to(self.inv_freq), self.inv_freq)[None, :, None]
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * ang.cos() - b * ang.sin(), a * ang.sin() + b * ang.cos()], -1).flatten(-2)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.rope((x @ self.wq.T).view(B, T, H, HD)).transpose(1, 2)
        k = self.rope((x @ self.wk.T).view(B, T, KV, HD)).transpose(1, 2)
        v = (x @ self.wv.T).view(B, T, KV, HD).transpose(1, 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return o.permute(0, 2, 1, 3).flatten(2) @ self.wo.T


torch.manual_seed(0)
left = HFAttention()
right = MetaAttention(left)
inputs = (torch.randn(2, 7, D),)
