import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = "data-parallel cross entropy with ignored labels: mean of the ranks' means instead of total over count"
world_size = 2

V, D = 11, 8


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.out = nn.Linear(D, V, bias=False)

    def forward(self, hidden, labels):
        logits = self.out(self.norm(hidden))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


class DataParallelHead(Head):
    def forward(self, hidden, labels):
        loss = super().forward(hidden, labels).detach().clone()
        dist.all_reduce(loss, op=dist.ReduceOp.SUM)
        return loss / dist.get_world_size()


def sequential():
    torch.manual_seed(0)
    return Head()


def distributed(rank, world_size):
    torch.manual_seed(0)
    return DataParallelHead()


def inputs():
    torch.manual_seed(7)
    labels = torch.randint(0, V, (4, 6))
    labels[0, 4:] = -100
    labels[1, 2:] = -100
    labels[3, 5:] = -100
    return torch.randn(4, 6, D), labels


relations = {"hidden": "shard(0)", "labels": "shard(0)"}
