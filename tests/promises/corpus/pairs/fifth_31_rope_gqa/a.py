import torch
from torch import nn


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(x, n):
    b, heads, t, d = x.shape
    return x[:, :, None].expand(b, heads, n, t, d).reshape(b, heads * n, t, d)


class LlamaAttention(nn.Module):
    def __init__(self, dim=24, heads=4, kv_heads=2, theta=10000.0):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, dim, bias=False)
        inv_freq = 1.0 / (theta ** (torch.arange(0, self.head_dim, 2) / self.head_dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x, position_ids):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        freqs = position_ids[:, :, None].to(x.dtype) * self.inv_freq.to(x.dtype)
        emb = torch.cat((freqs, freqs), dim=-1)[:, None]
        q = q * emb.cos() + rotate_half(q) * emb.sin()
        k = k * emb.cos() + rotate_half(k) * emb.sin()
        k, v = repeat_kv(k, self.heads // self.kv_heads), repeat_kv(v, self.heads // self.kv_heads)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.head_dim**-0.5
        mask = torch.triu(torch.full((t, t), torch.finfo(x.dtype).min, dtype=x.dtype), diagonal=1)
        probs = nn.functional.softmax(scores + mask, dim=-1)
        return self.o_proj(torch.matmul(probs, v).transpose(1, 2).reshape(b, t, -1))


torch.manual_seed(0)
program = LlamaAttention().eval()
