import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))
        self.conv = nn.Conv2d(3, 8, 3, stride=1, padding=1)

    def forward(self, image):
        return F.relu(self.conv((image - self.mean) / self.std))


def inputs():
    return (torch.rand(2, 3, 6, 7),)
