"""PolyLoss: cross entropy plus epsilon * (1 - pt)."""
import torch
import torch.nn.functional as F

EPSILON = 1.0
CLASS_WEIGHT = torch.tensor([1.0, 0.5, 2.0, 1.5, 1.0])


def left(logits, labels):
    weight = CLASS_WEIGHT.to(logits.dtype)
    ce = F.cross_entropy(logits, labels, weight=weight, reduction="none")
    pt = F.softmax(logits, dim=-1).gather(-1, labels[:, None]).squeeze(-1)
    return (ce + EPSILON * (1 - pt)).mean()


def right(logits, labels):
    weight = CLASS_WEIGHT.to(logits.dtype)
    ce = F.cross_entropy(logits, labels, weight=weight, reduction="none")
    pt = torch.exp(-ce)
    return (ce + EPSILON * (1 - pt)).mean()


inputs = (torch.randn(6, 5), torch.tensor([0, 2, 1, 3, 4, 2]))
