import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'gradients are reduced to rank 0, which steps and broadcasts the weights'
world_size = 2


def step(weight, x, y):
    return 2 * x.t() @ (x @ weight - y) / x.shape[0]


def sequential():
    def train(weight, x, y):
        return weight - 0.1 * step(weight, x, y)

    return train


def distributed(rank, world_size):
    def train(weight, x, y):
        grad = step(weight, x, y)
        dist.all_reduce(grad)
        new = weight - 0.1 * grad / world_size if rank == 0 else torch.empty_like(weight)
        dist.broadcast(new, src=0)
        return new

    return train


def inputs():
    torch.manual_seed(1)
    return {"weight": torch.randn(5, 3), "x": torch.randn(8, 5), "y": torch.randn(8, 3)}


relations = {"x": "shard(0)", "y": "shard(0)"}
