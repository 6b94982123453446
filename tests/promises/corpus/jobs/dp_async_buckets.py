import torch
import torch.distributed as dist

TRUTH = "refines"
WHY = 'two buckets of the gradient are reduced asynchronously, and each is waited for before the step'
world_size = 2


def step(weight, x, y):
    return 2 * x.t() @ (x @ weight - y) / x.shape[0]


def sequential():
    def train(weight, x, y):
        return weight - 0.1 * step(weight, x, y)

    return train


def distributed(rank, world_size):
    def train(weight, x, y):
        grad = step(weight, x, y) / world_size
        buckets = [grad[:2].clone(), grad[2:].clone()]
        works = [dist.all_reduce(b, async_op=True) for b in buckets]
        for work in works:
            work.wait()
        return weight - 0.1 * torch.cat(buckets)

    return train


def inputs():
    torch.manual_seed(1)
    return {"weight": torch.randn(5, 3), "x": torch.randn(8, 5), "y": torch.randn(8, 3)}


relations = {"x": "shard(0)", "y": "shard(0)"}
