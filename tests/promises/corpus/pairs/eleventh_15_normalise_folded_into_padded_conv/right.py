import torch
from torch import nn

from left import Left


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Left()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        with torch.no_grad():
            self.conv.weight.copy_(theirs.conv.weight / theirs.std)
            self.conv.bias.copy_(theirs.conv.bias - (theirs.conv.weight * theirs.mean / theirs.std).sum((1, 2, 3)))

    def forward(self, image):
        return self.conv(image).relu()


def inputs():
    return (torch.rand(2, 3, 6, 7),)
