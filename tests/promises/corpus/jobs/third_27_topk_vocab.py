import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'top-k and greedy token over sharded logits: local top-k, gathered with global ids, top-k again'
world_size = 4

VOCAB, K = 24, 3


def pick(logits):
    values, ids = logits.topk(K, dim=-1)
    return {"values": values, "ids": ids, "greedy": logits.argmax(-1), "probs": values.softmax(-1)}


def sequential():
    return pick


def distributed(rank, world_size):
    per = VOCAB // world_size

    def sharded_pick(logits):
        v, i = logits.topk(K, dim=-1)
        i = i + rank * per
        vs = [torch.empty_like(v) for _ in range(world_size)]
        ids = [torch.empty_like(i) for _ in range(world_size)]
        dist.all_gather(vs, v)
        dist.all_gather(ids, i)
        values, at = torch.cat(vs, -1).topk(K, dim=-1)
        ids = torch.cat(ids, -1).gather(-1, at)
        return {"values": values, "ids": ids, "greedy": ids[..., 0], "probs": values.softmax(-1)}

    return sharded_pick


def inputs():
    torch.manual_seed(0)
    return {"logits": torch.randn(3, VOCAB)}


relations = {"logits": "shard(1)"}
