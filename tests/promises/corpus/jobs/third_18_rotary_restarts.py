import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.nn.functional import all_gather

TRUTH = "does not refine"
WHY = 'sequence-sharded attention with gathered keys: rotary positions restart at zero on every shard'
world_size = 2

D, H = 16, 2


def rotary(x, start=0):
    # x: [B, H, T, hd]; interleaved pairs
    T, hd = x.shape[-2:]
    inv = 1.0 / (100.0 ** (torch.arange(0, hd, 2, dtype=x.dtype) / hd))
    t = torch.arange(start, start + T, dtype=x.dtype)
    ang = torch.outer(t, inv)
    x1, x2 = x[..., 0::2], x[..., 1::2]
    out = torch.stack([x1 * ang.cos() - x2 * ang.sin(), x1 * ang.sin() + x2 * ang.cos()], -1)
    return out.flatten(-2)


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(D, 3 * D, bias=False)
        self.out_proj = nn.Linear(D, D, bias=False)

    def project(self, x):
        B, T, _ = x.shape
        return self.in_proj(x).view(B, T, 3, H, D // H).permute(2, 0, 3, 1, 4)

    def attend(self, q, k, v, first):
        rows = first + torch.arange(q.shape[2])
        cols = torch.arange(k.shape[2])
        s = q @ k.mT * (D // H) ** -0.5
        s = s.masked_fill(cols > rows[:, None], -torch.inf)
        y = s.softmax(-1) @ v
        return self.out_proj(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        q, k, v = self.project(x)
        return self.attend(rotary(q), rotary(k), v, 0)


class SeqShardAttn(Attn):
    def forward(self, x):
        rank = dist.get_rank()
        q, k, v = self.project(x)
        q, k = rotary(q), rotary(k)
        k = torch.cat(all_gather(k.contiguous()), 2)
        v = torch.cat(all_gather(v.contiguous()), 2)
        return self.attend(q, k, v, rank * x.shape[1])


def sequential():
    torch.manual_seed(0)
    return Attn()


def distributed(rank, world_size):
    torch.manual_seed(0)
    return SeqShardAttn()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(1, 6, D),)


relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
