import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "does not refine"
WHY = "a mean of the ranks' means: rank 0 has 2 labels that count, rank 1 has 3"
world_size = 2


def sequential():
    def loss(logits, labels):
        return F.cross_entropy(logits, labels, ignore_index=-100)

    return loss


def distributed(rank, world_size):
    def loss(logits, labels):
        mean = F.cross_entropy(logits, labels, ignore_index=-100)
        dist.all_reduce(mean)
        return mean / world_size

    return loss


def inputs():
    torch.manual_seed(1)
    labels = torch.randint(0, 7, (8,))
    labels[1] = -100
    labels[2] = -100
    labels[6] = -100
    return (torch.randn(8, 7), labels)


relations = {"logits": "shard(0)", "labels": "shard(0)"}
