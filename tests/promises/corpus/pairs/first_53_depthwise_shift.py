# EQUAL. depthwise 3x3 convolution vs nine shifted multiples (padded, rolled views)
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
left = nn.Conv2d(4, 4, 3, padding=1, groups=4)
W = left.weight.detach().squeeze(1)
b = left.bias.detach()


def right(x):
    h, w = x.shape[2:]
    xp = F.pad(x, [1] * 4)
    acc = b[None, :, None, None].expand(x.shape[0], -1, h, w).clone()
    for i in range(3):
        for j in range(3):
            acc += xp[:, :, i:i + h, j:j + w] * W[:, i, j].view(1, -1, 1, 1)
    return acc


inputs = (torch.randn(2, 4, 5, 6),)
