"""Zigzag ring attention: causal, keys and values go round by batch_isend_irecv, partial results merged by log-sum-exp, 4 ranks, forward."""
import torch
import torch.distributed as dist


def causal_attention(q, k, v):                             # b h s d
    s, d = q.shape[-2:]
    scores = q @ k.transpose(-1, -2) * d**-0.5
    scores = scores.masked_fill(torch.ones(s, s, dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def block_attention(q, k, v, q_pos, k_pos):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(k_pos[None, :] > q_pos[:, None], float("-inf"))
    lse = torch.logsumexp(scores, -1, keepdim=True)
    return (scores - lse).exp() @ v, lse


def merge(out, lse, block_out, block_lse):
    new = torch.logaddexp(lse, block_lse)
    return out * (lse - new).exp() + block_out * (block_lse - new).exp(), new


class Ring:
    def __init__(self, rank, world_size):
        self.rank, self.world = rank, world_size
        self.next, self.prev = (rank + 1) % world_size, (rank - 1) % world_size

    def mine(self, x, rank):
        chunks = x.chunk(2 * self.world, dim=-2)
        return torch.cat([chunks[rank], chunks[2 * self.world - 1 - rank]], dim=-2)

    def positions(self, rank, s):
        c = s // (2 * self.world)
        a, b = rank * c, (2 * self.world - 1 - rank) * c
        return torch.cat([torch.arange(a, a + c), torch.arange(b, b + c)])

    def exchange(self, k, v):
        k, v = k.contiguous(), v.contiguous()
        new_k, new_v = torch.empty_like(k), torch.empty_like(v)
        work = dist.batch_isend_irecv([
            dist.P2POp(dist.isend, k, self.next), dist.P2POp(dist.isend, v, self.next),
            dist.P2POp(dist.irecv, new_k, self.prev), dist.P2POp(dist.irecv, new_v, self.prev),
        ])
        return new_k, new_v, work

    def __call__(self, q, k, v):
        s = q.shape[-2]
        q, k, v = (self.mine(t, self.rank) for t in (q, k, v))
        q_pos = self.positions(self.rank, s)
        out = lse = None
        for step in range(self.world):
            if step + 1 < self.world:
                new_k, new_v, work = self.exchange(k, v)
            source = (self.rank - step) % self.world
            k_pos = self.positions(source, s)
            if step == 0:
                out, lse = block_attention(q, k, v, q_pos, k_pos)
            else:
                half = s // (2 * self.world)
                if source < self.rank:                     # only the early half of what came is visible
                    block = block_attention(q, k[..., :half, :], v[..., :half, :], q_pos, k_pos[:half])
                    out, lse = merge(out, lse, *block)
                else:                                      # only the late half of our queries sees it
                    o, l = block_attention(q[..., half:, :], k, v, q_pos[half:], k_pos)
                    o, l = merge(out[..., half:, :], lse[..., half:, :], o, l)
                    out = torch.cat([out[..., :half, :], o], -2)
                    lse = torch.cat([lse[..., :half, :], l], -2)
            if step + 1 < self.world:
                for w in work:
                    w.wait()
                k, v = new_k, new_v
        parts = [torch.empty_like(out) for _ in range(self.world)]
        dist.all_gather(parts, out.contiguous())
        halves = [p.chunk(2, dim=-2) for p in parts]
        return torch.cat([a for a, _ in halves] + [b for _, b in reversed(halves)], dim=-2)


def sequential():
    return causal_attention


def distributed(rank, world_size):
    ring = Ring(rank, world_size)
    return lambda q, k, v: ring(q, k, v)


def inputs():
    return torch.randn(1, 2, 16, 4), torch.randn(1, 2, 16, 4), torch.randn(1, 2, 16, 4)


world_size = 4

TRUTH = "refines"
