import torch
import torch.distributed as dist

TRUTH = "does not refine"
WHY = 'rank 0 enters group one first, rank 1 group two: both wait for each other'
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
        if rank == 0:
            dist.all_reduce(total, group=one)
            dist.all_reduce(top, op=dist.ReduceOp.MAX, group=two)
        else:
            dist.all_reduce(top, op=dist.ReduceOp.MAX, group=two)
            dist.all_reduce(total, group=one)
        return {"total": total, "top": top}

    return stats


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
