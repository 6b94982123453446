import torch
from torch import nn


class InceptionBranch(nn.Module):
    """Pool branch of an Inception block: an average over 3 × 3, then a 1 × 1 convolution."""

    def __init__(self, inside=6, outside=8):
        super().__init__()
        self.pool = nn.AvgPool2d(3, stride=1, padding=1)
        self.conv = nn.Conv2d(inside, outside, 1, bias=False)
        self.bn = nn.BatchNorm2d(outside, eps=1e-3)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(self.pool(x))))


def make():
    torch.manual_seed(0)
    branch = InceptionBranch()
    with torch.no_grad():
        branch.bn.weight.uniform_(0.5, 1.5)
        branch.bn.bias.normal_(0, 0.3)
        branch.bn.running_mean.normal_(0, 0.3)
        branch.bn.running_var.uniform_(0.5, 1.5)
    return branch.eval()


program = make()
