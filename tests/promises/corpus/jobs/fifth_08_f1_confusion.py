"""Evaluation over shards: a confusion matrix by bincount, summed over ranks; accuracy, macro F1 and mean intersection over union."""

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "the confusion matrix is a sum over samples, and the metrics are made of the summed one"

world_size = 2
relations = {"x": "shard(0)", "label": "shard(0)"}

CLASSES = 3


class Evaluate(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(13)
        self.head = nn.Linear(4, CLASSES)

    def total(self, t):
        return t

    def forward(self, x, label):
        pred = self.head(x).argmax(-1)
        confusion = torch.bincount(label * CLASSES + pred, minlength=CLASSES**2).view(CLASSES, CLASSES)
        confusion = self.total(confusion).float()
        hit = confusion.diagonal()
        precision = hit / confusion.sum(0).clamp(min=1)
        recall = hit / confusion.sum(1).clamp(min=1)
        f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-12)
        union = confusion.sum(0) + confusion.sum(1) - hit
        return {"accuracy": hit.sum() / confusion.sum(), "f1": f1.mean(), "iou": (hit / union.clamp(min=1)).mean()}


class EvaluateShards(Evaluate):
    def total(self, t):
        dist.all_reduce(t)
        return t


def sequential():
    return Evaluate()


def distributed(rank, world_size):
    return EvaluateShards()


def inputs():
    torch.manual_seed(14)
    return {"x": torch.randn(10, 4), "label": torch.randint(0, CLASSES, (10,))}
