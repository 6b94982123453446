# EQUAL
import torch
from torch.nn import functional as F


def left(pred, target):
    return F.huber_loss(pred, target, delta=0.5)


def right(pred, target):
    # smooth L1 is Huber over beta
    return 0.5 * F.smooth_l1_loss(pred, target, beta=0.5)


def inputs():
    torch.manual_seed(0)
    return {"pred": torch.randn(8, 3), "target": torch.randn(8, 3)}
