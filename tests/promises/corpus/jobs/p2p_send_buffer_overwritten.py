import torch
import torch.distributed as dist

TRUTH = "does not refine"
WHY = 'the buffer of an isend is overwritten before the send is waited for'
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
        theirs = torch.empty_like(mine)
        buffer = mine.clone()
        sent = dist.isend(buffer, other)
        got = dist.irecv(theirs, other)
        got.wait()
        buffer.mul_(0.5)
        sent.wait()
        first, second = (mine, theirs) if rank == 0 else (theirs, mine)
        return {"y": first * 2 + second}

    return shifted_sum


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
