import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, deep=8, skip=4, out=5):
        super().__init__()
        self.up = nn.ConvTranspose2d(deep, deep // 2, kernel_size=2, stride=2)
        self.conv = nn.Conv2d(deep // 2 + skip, out, 3, padding=1)

    def forward(self, x, skip):
        x = torch.cat([skip, self.up(x)], dim=1)
        return F.relu(self.conv(x))


def inputs():
    return torch.randn(2, 8, 3, 4), torch.randn(2, 4, 6, 8)
