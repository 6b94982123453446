# EQUAL.
"""Hinton distillation: kl_div batchmean * T^2 blended with hard labels, vs soft cross entropy minus teacher entropy. EQUAL."""
import torch
from torch.nn import functional as F

TEMP, ALPHA = 3.0, 0.7


def left(student, teacher, y):
    soft = F.kl_div(
        F.log_softmax(student / TEMP, dim=1),
        F.softmax(teacher / TEMP, dim=1),
        reduction="batchmean",
    ) * (TEMP * TEMP)
    return ALPHA * soft + (1 - ALPHA) * F.cross_entropy(student, y)


def right(student, teacher, y):
    s, t = student / TEMP, teacher / TEMP
    p = t.softmax(1)
    cross = (p * (s.logsumexp(1, keepdim=True) - s)).sum(1)
    entropy = (p * (t.logsumexp(1, keepdim=True) - t)).sum(1)
    hard = student.logsumexp(1) - student[torch.arange(len(y)), y]
    return (ALPHA * TEMP ** 2 * (cross - entropy) + (1 - ALPHA) * hard).mean()


inputs = lambda: (torch.randn(6, 8), torch.randn(6, 8), torch.randint(0, 8, (6,)))
