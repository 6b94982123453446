import torch
from torch import nn
from torch.nn import functional as F


class UpBlock(nn.Module):
    def __init__(self, inside=4, outside=3):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 1)

    def forward(self, x, skip):
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.relu(self.conv(x) + skip)


def program():
    torch.manual_seed(0)
    return UpBlock().eval()
