# Data, context and tensor parallel by hand, groups taken from a mesh of three axes: batch over dp, tokens over cp (keys and
# values are gathered), heads over tp (one all-reduce after the output projection).
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS = 8, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(DIM, DIM)
        self.kv = nn.Linear(DIM, 2 * DIM)
        self.dense = nn.Linear(DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.query(x).view(b, t, HEADS, -1).transpose(1, 2)
        k, v = self.kv(x).view(b, t, 2, HEADS, -1).unbind(2)
        scores = q @ k.permute(0, 2, 3, 1) / (DIM // HEADS) ** 0.5
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        probs = scores.masked_fill(~causal, float("-inf")).softmax(-1)
        return self.dense((probs @ v.transpose(1, 2)).transpose(1, 2).flatten(2))


class ParallelAttention(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        full = Attention()
        self.cp_group, self.tp_group = mesh.get_group("cp"), mesh.get_group("tp")
        self.cp_rank, self.cp = mesh.get_local_rank("cp"), mesh["cp"].size()
        tp_rank, tp = mesh.get_local_rank("tp"), mesh["tp"].size()
        self.heads = HEADS // tp

        def part(t, dim=0):
            return nn.Parameter(t.data.chunk(tp, dim)[tp_rank].clone())

        self.wq, self.bq = part(full.query.weight), part(full.query.bias)
        # k and v are fused one after the other: cut each of them
        (wk, wv), (bk, bv) = full.kv.weight.chunk(2), full.kv.bias.chunk(2)
        self.wkv = nn.Parameter(torch.cat([part(wk).data, part(wv).data]))
        self.bkv = nn.Parameter(torch.cat([part(bk).data, part(bv).data]))
        self.wo, self.bo = part(full.dense.weight, 1), full.dense.bias

    def gather_tokens(self, t):
        parts = [torch.empty_like(t) for _ in range(self.cp)]
        dist.all_gather(parts, t.contiguous(), group=self.cp_group)
        return torch.cat(parts, dim=1)

    def forward(self, x):
        b, t, _ = x.shape
        q = F.linear(x, self.wq, self.bq).view(b, t, self.heads, -1).transpose(1, 2)
        kv = self.gather_tokens(F.linear(x, self.wkv, self.bkv))
        k, v = kv.view(b, t * self.cp, 2, self.heads, -1).unbind(2)
        scores = q @ k.permute(0, 2, 3, 1) / (DIM // HEADS) ** 0.5
        here = torch.arange(t) + self.cp_rank * t
        hidden = here[:, None] < torch.arange(t * self.cp)[None]
        probs = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        y = F.linear((probs @ v.transpose(1, 2)).transpose(1, 2).flatten(2), self.wo)
        dist.all_reduce(y, group=self.tp_group)
        return y + self.bo


def sequential():
    return Attention()


def distributed(rank, world_size, mesh):
    return ParallelAttention(mesh)


def inputs():
    return (torch.randn(4, 6, DIM),)


mesh = {"dp": 2, "cp": 2, "tp": 2}
world_size = 8
relations = {"x": "shard(0) over dp, shard(1) over cp"}
expected = {"0": "shard(0) over dp, shard(1) over cp"}
TRUTH = "refines"
