import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'sums and numbers of labels that are not -100 are reduced before the division'
world_size = 2


def sequential():
    def loss(logits, labels):
        return F.cross_entropy(logits, labels, ignore_index=-100)

    return loss


def distributed(rank, world_size):
    def loss(logits, labels):
        total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
        count = (labels != -100).sum().to(total.dtype)
        both = torch.stack([total, count])
        dist.all_reduce(both)
        return both[0] / both[1]

    return loss


def inputs():
    torch.manual_seed(1)
    labels = torch.randint(0, 7, (8,))
    labels[1] = -100
    labels[2] = -100
    labels[6] = -100
    return (torch.randn(8, 7), labels)


relations = {"logits": "shard(0)", "labels": "shard(0)"}
