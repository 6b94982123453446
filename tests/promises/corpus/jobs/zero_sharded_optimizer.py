import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'reduce-scatter of the gradient by rows, each rank steps its rows, and the weights are gathered'
world_size = 2


def step(weight, x, y):
    return 2 * x.t() @ (x @ weight - y) / x.shape[0]


def sequential():
    def train(weight, x, y):
        return weight - 0.1 * step(weight, x, y)

    return train


def distributed(rank, world_size):
    def train(weight, x, y):
        grad = step(weight, x, y).div_(world_size)
        mine = torch.empty(weight.shape[0] // world_size, weight.shape[1])
        dist.reduce_scatter_tensor(mine, grad.contiguous())
        n = mine.shape[0]
        new = weight[rank * n : (rank + 1) * n] - 0.1 * mine
        out = torch.empty_like(weight)
        dist.all_gather_into_tensor(out, new.contiguous())
        return out

    return train


def inputs():
    torch.manual_seed(1)
    return {"weight": torch.randn(6, 3), "x": torch.randn(8, 6), "y": torch.randn(8, 3)}


relations = {"x": "shard(0)", "y": "shard(0)"}
