import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'two groups of the same ranks, entered in the same order on both'
world_size = 2


def sequential():
    def stats(x):
        return {"total": x.sum(0), "top": x.amax(0)}

    return stats


def distributed(rank, world_size):
    one = dist.new_group([0, 1])
    two = dist.new_group([0, 1])

    def stats(x):
        total, top = x.sum(0), x.amax(0)
        dist.all_reduce(total, group=one)
        dist.all_reduce(top, op=dist.ReduceOp.MAX, group=two)
        return {"total": total, "top": top}

    return stats


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
