"""Matrix factorisation trained with Bayesian personalised ranking under DistributedDataParallel, with a communication hook of our
own (it reduces the bucket in halves to overlap better)."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

USERS, ITEMS, DIM, REG = 9, 12, 5, 1e-2


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM)
        self.item = nn.Embedding(ITEMS, DIM)
        self.item_bias = nn.Embedding(ITEMS, 1)

    def score(self, u, items):
        return (u * self.item(items)).sum(-1) + self.item_bias(items).squeeze(-1)

    def forward(self, users, positives, negatives):
        u = self.user(users)
        margin = self.score(u, positives) - self.score(u, negatives)
        penalty = u.square().sum(-1) + self.item(positives).square().sum(-1) + self.item(negatives).square().sum(-1)
        return (-F.logsigmoid(margin) + REG * penalty).mean()


def halves_hook(world_size, bucket):
    grads = bucket.buffer().div_(world_size)
    middle = grads.numel() // 2
    first = dist.all_reduce(grads[:middle], async_op=True)
    second = dist.all_reduce(grads[middle:], async_op=True).get_future()

    def finish(future):
        first.wait()
        return grads.div_(world_size)

    return second.then(finish)


def sequential():
    return BPR()


def distributed(rank, world_size):
    model = DistributedDataParallel(BPR())
    model.register_comm_hook(world_size, halves_hook)
    return model


def inputs():
    n = 12
    return torch.randint(0, USERS, (n,)), torch.randint(0, ITEMS, (n,)), torch.randint(0, ITEMS, (n,))


world_size = 2
relations = {"users": "shard(0)", "positives": "shard(0)", "negatives": "shard(0)"}
expected = {"0": "partial(avg)"}
backward = True

TRUTH = "differs"
# WHY: the hook divides by the number of ranks before the reduction and again behind it, so that gradients are half of what they
# should be.
