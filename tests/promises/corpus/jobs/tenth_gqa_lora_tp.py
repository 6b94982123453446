"""One query head per rank, each key/value head on two ranks, LoRA on q, v and o; every partial gradient of a LoRA factor is summed over the ranks that share it."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, KV, HD, RANK, SCALE = 12, 4, 2, 4, 3, 2.0


def rope(x):
    t = torch.arange(x.shape[-2], dtype=x.dtype)
    freq = 10000.0 ** (-torch.arange(0, HD, 2, dtype=x.dtype) / HD)
    angle = torch.outer(t, freq)
    cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def heads(x, n):
    return x.view(x.shape[0], x.shape[1], n, HD).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, HEADS * HD, bias=False)
        self.wk = nn.Linear(DIM, KV * HD, bias=False)
        self.wv = nn.Linear(DIM, KV * HD, bias=False)
        self.wo = nn.Linear(HEADS * HD, DIM, bias=False)
        for p in self.parameters():
            p.requires_grad_(False)
        self.q_a, self.q_b = nn.Linear(DIM, RANK, bias=False), nn.Linear(RANK, HEADS * HD, bias=False)
        self.v_a, self.v_b = nn.Linear(DIM, RANK, bias=False), nn.Linear(RANK, KV * HD, bias=False)
        self.o_a, self.o_b = nn.Linear(HEADS * HD, RANK, bias=False), nn.Linear(RANK, DIM, bias=False)

    def forward(self, x):
        q = rope(heads(self.wq(x) + SCALE * self.q_b(self.q_a(x)), HEADS))
        k = rope(heads(self.wk(x), KV)).repeat_interleave(HEADS // KV, 1)
        v = heads(self.wv(x) + SCALE * self.v_b(self.v_a(x)), KV).repeat_interleave(HEADS // KV, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).flatten(2)
        return self.wo(y) + SCALE * self.o_b(self.o_a(y))


class Copy(torch.autograd.Function):
    """Identity; the gradient is summed over the group."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Reduce(torch.autograd.Function):
    """A sum over the ranks; the gradient goes through."""

    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ParallelAttention(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.n = HEADS // world_size
        share = world_size // KV
        mine = slice(rank * self.n * HD, (rank + 1) * self.n * HD)
        kv = slice(rank // share * HD, (rank // share + 1) * HD)
        groups = [dist.new_group(list(range(g * share, (g + 1) * share))) for g in range(KV)]
        self.kv_group = groups[rank // share]

        def param(w, grad=True):
            return nn.Parameter(w.detach().clone(), requires_grad=grad)

        self.wq, self.wk = param(full.wq.weight[mine], False), param(full.wk.weight[kv], False)
        self.wv, self.wo = param(full.wv.weight[kv], False), param(full.wo.weight[:, mine], False)
        self.q_a, self.q_b = param(full.q_a.weight), param(full.q_b.weight[mine])
        self.v_a, self.v_b = param(full.v_a.weight), param(full.v_b.weight[kv])
        self.o_a, self.o_b = param(full.o_a.weight[:, mine]), param(full.o_b.weight)

    def forward(self, x):
        wide = Copy.apply(x, None)
        low_q = Copy.apply(F.linear(x, self.q_a), None)
        low_v = Copy.apply(F.linear(x, self.v_a), None)
        q = rope(heads(F.linear(wide, self.wq) + SCALE * F.linear(low_q, self.q_b), self.n))
        k = rope(heads(F.linear(wide, self.wk), 1))
        v_b = Copy.apply(self.v_b, self.kv_group)
        v = heads(F.linear(wide, self.wv) + SCALE * F.linear(low_v, v_b), 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).flatten(2)
        low_o = Reduce.apply(F.linear(y, self.o_a))
        return Reduce.apply(F.linear(y, self.wo)) + SCALE * F.linear(low_o, self.o_b)


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ParallelAttention(Attention(), rank, world_size)


def inputs():
    return (torch.randn(2, 5, DIM),)


world_size = 4
backward = True


TRUTH = "refines"
