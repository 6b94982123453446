import torch
from torch import nn


class SqueezeExcite(nn.Module):
    def __init__(self, channels=12, reduction=4):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, channels // reduction, 1)
        self.act = nn.SiLU()
        self.fc2 = nn.Conv2d(channels // reduction, channels, 1)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        return x * self.gate(self.fc2(self.act(self.fc1(self.pool(x)))))


torch.manual_seed(0)
program = SqueezeExcite().eval()
