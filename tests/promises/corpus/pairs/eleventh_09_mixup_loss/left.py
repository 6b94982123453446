import torch
from torch.nn import functional as F


def mixup_criterion(pred, y_a, y_b, lam):
    return lam * F.cross_entropy(pred, y_a) + (1 - lam) * F.cross_entropy(pred, y_b)


def inputs():
    return torch.randn(6, 5), torch.tensor([0, 1, 4, 2, 3, 1]), torch.tensor([1, 0, 2, 4, 3, 2]), torch.rand(())
