"""Gated attention of Qwen3-Next: queries and output gates in one projection, head by head."""
import torch
from torch import nn
import torch.nn.functional as F

DIM, HEADS, KV_HEADS, HEAD_DIM, ROT = 12, 4, 2, 8, 4


class RMSNorm(nn.Module):
    """Weights around zero."""

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.randn(dim) * 0.1)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * (1.0 + self.weight)


def tables(t, dtype):
    inv_freq = 1.0 / (10000 ** (torch.arange(0, ROT, 2, dtype=dtype) / ROT))
    freqs = torch.outer(torch.arange(t, dtype=dtype), inv_freq)
    emb = torch.cat([freqs, freqs], -1)
    return emb.cos(), emb.sin()


def rope(x, cos, sin):
    rot, rest = x[..., :ROT], x[..., ROT:]
    half = torch.cat((-rot[..., ROT // 2 :], rot[..., : ROT // 2]), -1)
    return torch.cat([rot * cos + half * sin, rest], -1)


class Qwen3NextAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(DIM, HEADS * HEAD_DIM * 2, bias=False)
        self.k_proj = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.v_proj = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)
        self.q_norm = RMSNorm(HEAD_DIM)
        self.k_norm = RMSNorm(HEAD_DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, gate = self.q_proj(x).view(b, t, -1, HEAD_DIM * 2).chunk(2, dim=-1)
        gate = gate.reshape(b, t, -1)
        q = self.q_norm(q.reshape(b, t, HEADS, HEAD_DIM)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(b, t, KV_HEADS, HEAD_DIM)).transpose(1, 2)
        v = self.v_proj(x).view(b, t, KV_HEADS, HEAD_DIM).transpose(1, 2)
        cos, sin = tables(t, x.dtype)
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        k = k.repeat_interleave(HEADS // KV_HEADS, dim=1)
        v = v.repeat_interleave(HEADS // KV_HEADS, dim=1)
        scores = q @ k.transpose(-1, -2) * HEAD_DIM**-0.5
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        scores = scores.masked_fill(~causal, torch.finfo(x.dtype).min)
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, -1)
        return self.o_proj(out * torch.sigmoid(gate))


class Port(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        packed = theirs.q_proj.weight.detach().view(HEADS, 2, HEAD_DIM, DIM)
        k, v = theirs.k_proj.weight.detach(), theirs.v_proj.weight.detach()
        self.qkv = nn.Parameter(torch.cat([packed[:, 0].reshape(-1, DIM), k, v]))
        self.gate = nn.Parameter(packed[:, 1].reshape(-1, DIM).clone())
        self.out = nn.Parameter(theirs.o_proj.weight.detach().clone())
        self.q_scale = nn.Parameter(theirs.q_norm.weight.detach().clone())
        self.k_scale = nn.Parameter(theirs.k_norm.weight.detach().clone())

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = F.linear(x, self.qkv).split([HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM], -1)
        q = F.rms_norm(q.unflatten(-1, (HEADS, HEAD_DIM)), (HEAD_DIM,), 1 + self.q_scale, 1e-6)
        k = F.rms_norm(k.unflatten(-1, (KV_HEADS, HEAD_DIM)), (HEAD_DIM,), 1 + self.k_scale, 1e-6)
        v = v.unflatten(-1, (KV_HEADS, HEAD_DIM))
        cos, sin = tables(t, x.dtype)
        q, k = rope(q, cos[:, None], sin[:, None]), rope(k, cos[:, None], sin[:, None])
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True
        )
        out = out.transpose(1, 2).flatten(2) * F.linear(x, self.gate).sigmoid()
        return F.linear(out, self.out)


torch.manual_seed(0)
left = Qwen3NextAttention()
right = Port(left)
inputs = (torch.randn(2, 5, DIM),)
