import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'each rank gets one column of each neighbour, and zeros at the ends, as the padding is'
world_size = 3


KERNEL = torch.tensor([0.25, 0.5, -0.75])


def conv(x):
    return F.conv1d(x.unsqueeze(1), KERNEL.reshape(1, 1, 3)).squeeze(1)


def sequential():
    def smooth(x):
        return {"y": conv(F.pad(x, (1, 1)))}

    return smooth


def distributed(rank, world_size):
    def smooth(x):
        left, right = torch.zeros(x.shape[0], 1), torch.zeros(x.shape[0], 1)
        ops = []
        if rank > 0:
            ops.append(dist.P2POp(dist.isend, x[:, :1].contiguous(), rank - 1))
            ops.append(dist.P2POp(dist.irecv, left, rank - 1))
        if rank < world_size - 1:
            ops.append(dist.P2POp(dist.isend, x[:, -1:].contiguous(), rank + 1))
            ops.append(dist.P2POp(dist.irecv, right, rank + 1))
        for request in dist.batch_isend_irecv(ops):
            request.wait()
        return {"y": conv(torch.cat([left, x, right], dim=1))}

    return smooth


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 12),)


relations = {"x": "shard(1)"}
expected = {"y": "shard(1)"}
