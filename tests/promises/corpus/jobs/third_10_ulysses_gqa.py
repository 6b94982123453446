import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'Ulysses attention with grouped queries: all-to-all from sequence to heads and back, RoPE on each shard'
world_size = 2

DIM, HQ, HKV, HD = 16, 4, 2, 4


def rope(x, pos):  # x [B, T, H, hd]
    half = x.shape[-1] // 2
    freq = 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = pos.to(x.dtype)[:, None] * freq
    cos, sin = angle.cos()[None, :, None], angle.sin()[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def attention(q, k, v):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    rep = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.wq = nn.Linear(DIM, HQ * HD)
        self.wk = nn.Linear(DIM, HKV * HD)
        self.wv = nn.Linear(DIM, HKV * HD)
        self.wo = nn.Linear(HQ * HD, DIM)
        self.sp = None

    def forward(self, x):
        B, T, _ = x.shape
        start = self.sp[0] * T if self.sp else 0
        pos = start + torch.arange(T)
        q = rope(self.wq(x).view(B, T, HQ, HD), pos)
        k = rope(self.wk(x).view(B, T, HKV, HD), pos)
        v = self.wv(x).view(B, T, HKV, HD)
        if self.sp:
            q, k, v = (self.seq_to_heads(t) for t in (q, k, v))
        y = attention(q, k, v)
        if self.sp:
            y = self.heads_to_seq(y)
        return self.wo(y.reshape(B, T, -1))

    def seq_to_heads(self, t):  # [B, T/n, H, d] -> [B, T, H/n, d]
        n = self.sp[1]
        parts = [c.contiguous() for c in t.chunk(n, 2)]
        got = [torch.empty_like(c) for c in parts]
        self.exchange(got, parts)
        return torch.cat(got, 1)

    def heads_to_seq(self, t):
        n = self.sp[1]
        parts = [c.contiguous() for c in t.chunk(n, 1)]
        got = [torch.empty_like(c) for c in parts]
        self.exchange(got, parts)
        return torch.cat(got, 2)

    @staticmethod
    def exchange(got, parts):
        recv = torch.empty((len(parts), *parts[0].shape), dtype=parts[0].dtype)
        dist.all_to_all_single(recv, torch.stack(parts))
        for g, r in zip(got, recv):
            g.copy_(r)


def sequential():
    return Attention()


def distributed(rank, world_size):
    m = Attention()
    m.sp = (rank, world_size)
    return m


def inputs():
    return (torch.randn(2, 8, DIM, generator=torch.Generator().manual_seed(1)),)


relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
