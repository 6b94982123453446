import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'batch_isend_irecv, and every request is waited for'
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
        ops = [dist.P2POp(dist.isend, mine, other), dist.P2POp(dist.irecv, theirs, other)]
        for request in dist.batch_isend_irecv(ops):
            request.wait()
        first, second = (mine, theirs) if rank == 0 else (theirs, mine)
        return {"y": first * 2 + second}

    return shifted_sum


def inputs():
    torch.manual_seed(1)
    return (torch.randn(6, 3),)


relations = {"x": "shard(0)"}
