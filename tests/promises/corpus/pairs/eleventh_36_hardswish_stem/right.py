import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        conv = Left().conv
        self.weight, self.bias = nn.Parameter(conv.weight.detach().flatten(1)), conv.bias

    def forward(self, x):
        b, _, h, w = x.shape
        columns = F.unfold(x, 3, padding=1, stride=2)
        y = 4 * (self.weight @ columns) + self.bias[:, None]
        y = y.view(b, -1, (h + 1) // 2, (w + 1) // 2)
        return y * F.relu6(y + 3) / 6


def inputs():
    return (torch.randn(2, 3, 7, 9),)
