import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = 'zigzag context parallelism with rotary positions: rank r has chunks r and 2n-1-r, keys gathered and put in order'
world_size = 2

D, HEADS = 8, 2


def rope(x, pos):
    half = x.shape[-1] // 2
    theta = pos[:, None].to(x.dtype) * 50.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    c, s = theta.cos(), theta.sin()
    x1, x2 = x.split(half, -1)
    return torch.cat([x1 * c - x2 * s, x2 * c + x1 * s], -1)


class CausalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))

    def heads(self, t):
        return t.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def qkv(self, x, pos):
        return rope(self.heads(self.wq(x)), pos), rope(self.heads(self.wk(x)), pos), self.heads(self.wv(x))

    def attend(self, q, k, v, qpos, kpos):
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) / (D // HEADS) ** 0.5
        s = torch.where(kpos[None, :] <= qpos[:, None], s, torch.full_like(s, float("-inf")))
        y = s.softmax(-1) @ v
        return self.wo(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        pos = torch.arange(x.shape[1])
        return self.attend(*self.qkv(x, pos), pos, pos)


class Zigzag(CausalAttention):
    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world

    def positions(self, T, rank):
        chunks = torch.arange(T).chunk(2 * self.world)
        return torch.cat([chunks[rank], chunks[2 * self.world - 1 - rank]])

    def gather(self, t, order, dim):
        parts = [torch.empty_like(t) for _ in range(self.world)]
        dist.all_gather(parts, t.contiguous())
        return torch.cat(parts, dim).index_select(dim, order)

    def forward(self, x):
        T = x.shape[1]
        pos = self.positions(T, self.rank)
        order = torch.cat([self.positions(T, r) for r in range(self.world)]).argsort()
        with torch.no_grad():
            q, k, v = self.qkv(x[:, pos], pos)
            k, v = self.gather(k, order, 2), self.gather(v, order, 2)
            y = self.attend(q, k, v, pos, torch.arange(T))
            return self.gather(y, order, 1)


def sequential():
    return CausalAttention()


def distributed(rank, world_size):
    return Zigzag(rank, world_size)


def inputs():
    return (torch.randn(1, 8, D, generator=torch.Generator().manual_seed(3)),)
