import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "does not refine"
WHY = 'each rank shifts by its own maximum, and the sums of exponentials are added as if it were one'
world_size = 2


def sequential():
    def loss(logits, target):
        return F.cross_entropy(logits, target, reduction="none")

    return loss


def distributed(rank, world_size):
    def loss(logits, target):
        n = logits.shape[-1]
        first = rank * n
        top = logits.amax(-1)
        shifted = logits - top.unsqueeze(-1)
        total = shifted.exp().sum(-1)
        dist.all_reduce(total)
        outside = (target < first) | (target >= first + n)
        local = (target - first).masked_fill(outside, 0)
        picked = shifted.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)
        dist.all_reduce(picked)
        return total.log() - picked

    return loss


def inputs():
    torch.manual_seed(1)
    return (torch.randn(5, 12), torch.randint(0, 12, (5,)))


relations = {"logits": "shard(1)"}
