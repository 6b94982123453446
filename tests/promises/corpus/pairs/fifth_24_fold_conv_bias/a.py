import torch
from torch import nn


class DoubleConv(nn.Module):
    """The block of a U-Net."""

    def __init__(self, inside=3, middle=6, outside=5):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, middle, 3, padding=1), nn.BatchNorm2d(middle)
        self.conv2, self.bn2 = nn.Conv2d(middle, outside, 3, padding=1), nn.BatchNorm2d(outside)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)))


torch.manual_seed(0)
program = DoubleConv()
for norm in (program.bn1, program.bn2):
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, 0, 0.3)
    norm.running_mean.normal_(0, 0.3)
    norm.running_var.uniform_(0.5, 1.5)
program.eval()
