import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'isend and irecv, both waited for before anything is read'
world_size = 2


def sequential():
    def shifted_sum(x):
        half = x.shape[0] // 2
        return {"y": x[:half] * 2 + x[half:]}

    return shifted_sum


def distributed(rank, world_size):
    other = 1 - rank

    def shifted_sum(x):
        mine = x.contiguous()
        theirs = torch.empty_like(mine)
        sent = dist.isend(mine, other)
        got = dist.irecv(theirs, other)
        got.wait()
        sent.wait()
        first, second = (mine, theirs) if rank == 0 else (theirs, mine)
        return {"y": first * 2 + second}

    return shifted_sum


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
