import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'Ulysses: from cut along the sequence to cut along the heads, attention, and back'
world_size = 2


def attend(q, k, v):
    # [heads, tokens, d]
    return (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(-1) @ v


def sequential():
    def attention(q, k, v):
        return {"y": attend(q, k, v)}

    return attention


def distributed(rank, world_size):
    def to_heads(t):
        out = [torch.empty_like(p) for p in t.chunk(world_size, 0)]
        dist.all_to_all(out, [p.contiguous() for p in t.chunk(world_size, 0)])
        return torch.cat(out, dim=1)

    def to_tokens(t):
        parts = [p.contiguous() for p in t.chunk(world_size, 1)]
        out = [torch.empty_like(p) for p in parts]
        dist.all_to_all(out, parts)
        return torch.cat(out, dim=0)

    def attention(q, k, v):
        return {"y": to_tokens(attend(to_heads(q), to_heads(k), to_heads(v)))}

    return attention


def inputs():
    torch.manual_seed(1)
    return tuple(torch.randn(4, 6, 3) for _ in range(3))


relations = {"q": "shard(1)", "k": "shard(1)", "v": "shard(1)"}
expected = {"y": "shard(1)"}
