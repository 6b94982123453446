import torch
from torch.nn import functional as F


def mixup_criterion(pred, y_a, y_b, lam):
    classes = pred.size(-1)
    soft = lam * F.one_hot(y_a, classes) + (1 - lam) * F.one_hot(y_b, classes)
    return torch.mean(torch.sum(-soft * F.log_softmax(pred, dim=-1), dim=-1))


def inputs():
    return torch.randn(6, 5), torch.tensor([0, 1, 4, 2, 3, 1]), torch.tensor([1, 0, 2, 4, 3, 2]), torch.rand(())
