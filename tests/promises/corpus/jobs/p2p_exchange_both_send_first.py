import torch
import torch.distributed as dist

TRUTH = "does not refine"
WHY = 'both ranks send first: a send may have to wait for its recv, and then both hang'
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
        dist.send(mine, other)
        dist.recv(theirs, other)
        first, second = (mine, theirs) if rank == 0 else (theirs, mine)
        return {"y": first * 2 + second}

    return shifted_sum


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
