"""Context parallelism as for Llama 3: queries stay, keys and values are gathered over the sequence; rotary embedding, causal mask."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, HEAD_DIM, MAX_LENGTH = 8, 2, 4, 32


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        inv = 10000.0 ** (-torch.arange(0, HEAD_DIM, 2).to(torch.get_default_dtype()) / HEAD_DIM)
        angles = torch.outer(torch.arange(MAX_LENGTH).to(inv.dtype), inv)
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x):
        t = x.shape[-2]
        a, b = x.chunk(2, dim=-1)
        return x * self.cos[:t] + torch.cat([-b, a], dim=-1) * self.sin[:t]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(DIM, 3 * HEADS * HEAD_DIM, bias=False)
        self.wo = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)
        self.rotary = Rotary()

    def gather_context(self, k, v):
        return k, v

    def causal(self, rows, columns):
        return torch.ones(rows, columns, dtype=torch.bool).tril()

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.wqkv(x).view(b, t, 3, HEADS, HEAD_DIM).permute(2, 0, 3, 1, 4)
        q, k = self.rotary(q), self.rotary(k)
        k, v = self.gather_context(k, v)
        mask = self.causal(t, k.shape[2])
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(out.transpose(1, 2).reshape(b, t, -1))


class ContextParallelAttention(Attention):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size

    def gather_context(self, k, v):
        kv = torch.stack([k, v]).contiguous()
        pieces = [torch.empty_like(kv) for _ in range(self.world_size)]
        dist.all_gather(pieces, kv)
        return torch.cat(pieces, dim=3).unbind(0)

    def causal(self, rows, columns):
        return torch.ones(rows, columns, dtype=torch.bool).tril(diagonal=self.rank * rows)


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ContextParallelAttention(rank, world_size)


def inputs():
    return (torch.randn(2, 6, DIM),)


world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}


TRUTH = "broken"
