import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "does not refine"
WHY = 'each rank returns its share of the sum, divided by the number of labels of all: a partial sum that nobody takes and nobody declares'
world_size = 2


def sequential():
    def loss(logits, labels):
        return F.cross_entropy(logits, labels, ignore_index=-100)

    return loss


def distributed(rank, world_size):
    def loss(logits, labels):
        count = (labels != -100).sum().to(logits.dtype)
        dist.all_reduce(count)
        return F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum") / count

    return loss


def inputs():
    torch.manual_seed(1)
    labels = torch.randint(0, 7, (8,))
    labels[1] = -100
    labels[2] = -100
    labels[6] = -100
    return (torch.randn(8, 7), labels)


relations = {"logits": "shard(0)", "labels": "shard(0)"}
