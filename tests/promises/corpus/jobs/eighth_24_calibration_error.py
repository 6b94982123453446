"""Calibration of a classifier over a test set on several ranks: expected and maximum calibration error from bins of confidence, and
the Brier score."""

import torch
import torch.distributed as dist
from torch import nn

BINS, CLASSES = 5, 4


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 12)
        self.out = nn.Linear(12, CLASSES)
        self.temperature = nn.Parameter(torch.tensor(0.4))

    def forward(self, x):
        return torch.softmax(self.out(torch.relu(self.hidden(x))) / self.temperature, -1)


class Calibration(nn.Module):
    def __init__(self, reduce=lambda t: None):
        super().__init__()
        self.classifier = Classifier()
        self.reduce = reduce

    @torch.no_grad()
    def forward(self, x, labels):
        probs = self.classifier(x)
        confidence, predicted = probs.max(-1)
        correct = (predicted == labels).to(probs.dtype)
        edges = torch.linspace(0, 1, BINS + 1)[1:-1]
        bins = torch.bucketize(confidence, edges)
        table = torch.zeros(4, BINS)
        table[0].index_add_(0, bins, torch.ones_like(confidence))
        table[1].index_add_(0, bins, confidence)
        table[2].index_add_(0, bins, correct)
        target = nn.functional.one_hot(labels, CLASSES).to(probs.dtype)
        table[3, 0] = (probs - target).square().sum()
        self.reduce(table)

        count, sum_confidence, sum_correct = table[:3]
        total = count.sum()
        gap = (sum_confidence - sum_correct).abs() / count.clamp(min=1)
        return {"ece": (gap * count / total).sum(), "mce": gap.max(), "brier": table[3, 0] / total, "histogram": count}


def sequential():
    return Calibration()


def distributed(rank, world_size):
    return Calibration(dist.all_reduce)


def inputs():
    return torch.randn(20, 6), torch.randint(0, CLASSES, (20,))


world_size = 4
relations = {"x": "shard(0)", "labels": "shard(0)"}

TRUTH = "refines"
