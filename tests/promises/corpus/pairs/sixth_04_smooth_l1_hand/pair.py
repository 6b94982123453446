import torch
import torch.nn.functional as F

BETA = 0.5


def torch_loss(pred, target):
    return F.smooth_l1_loss(pred, target, beta=BETA)


def hand_loss(pred, target):
    d = (pred - target).abs()
    quadratic = d * d
    linear = d - 0.25
    per_element = torch.where(d < BETA, quadratic, linear)
    return per_element.sum() / per_element.numel()


def make_batch():
    return torch.randn(6, 4), torch.randn(6, 4)
