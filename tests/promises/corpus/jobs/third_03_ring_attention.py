import math

import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'causal ring attention with an online softmax; keys and values go round by batch_isend_irecv'
world_size = 4


def causal_attention(q, k, v):
    # q, k, v: [batch, heads, seq, dim]
    T = q.shape[2]
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


def sequential():
    return causal_attention


def pass_on(tensors, rank, world):
    nxt, prev = (rank + 1) % world, (rank - 1) % world
    new = [torch.empty_like(t) for t in tensors]
    ops = [dist.P2POp(dist.isend, t.contiguous(), nxt) for t in tensors]
    ops += [dist.P2POp(dist.irecv, t, prev) for t in new]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return new


def distributed(rank, world_size):
    def ring(q, k, v):
        B, H, n, D = q.shape
        scale = 1 / math.sqrt(D)
        my_pos = rank * n + torch.arange(n)
        out = torch.zeros_like(q)
        denom = torch.zeros(B, H, n, 1, dtype=q.dtype)
        best = torch.full((B, H, n, 1), float("-inf"), dtype=q.dtype)
        for step in range(world_size):
            owner = (rank - step) % world_size
            if owner <= rank:
                s = q @ k.transpose(-1, -2) * scale
                if owner == rank:
                    pos = owner * n + torch.arange(n)
                    s = s.masked_fill(pos[None, :] > my_pos[:, None], float("-inf"))
                new_best = torch.maximum(best, s.amax(-1, keepdim=True))
                p = torch.exp(s - new_best)
                fix = torch.exp(best - new_best)
                out = out * fix + p @ v
                denom = denom * fix + p.sum(-1, keepdim=True)
                best = new_best
            if step != world_size - 1:
                k, v = pass_on([k, v], rank, world_size)
        return out / denom

    return ring


def inputs():
    torch.manual_seed(0)
    return tuple(torch.randn(1, 2, 8, 4) for _ in range(3))


relations = {"q": "shard(2)", "k": "shard(2)", "v": "shard(2)"}
expected = {"0": "shard(2)"}
