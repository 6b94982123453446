import torch
from torch import nn
from torch.nn import functional as F

CHANNELS = 4


def batch_norm():
    norm = nn.BatchNorm2d(CHANNELS)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias)
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 1.5)
    return norm


class ThreeBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv3 = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False)
        self.bn3 = batch_norm()
        self.conv1 = nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)
        self.bn1 = batch_norm()
        self.bn0 = batch_norm()
        self.eval()

    def forward(self, x):
        return F.relu(self.bn3(self.conv3(x)) + self.bn1(self.conv1(x)) + self.bn0(x))


class Deployed(nn.Module):
    def __init__(self):
        super().__init__()
        block = ThreeBranches()
        identity = torch.eye(CHANNELS)[:, :, None, None]
        kernel, bias = 0, 0
        with torch.no_grad():
            for weight, bn in (
                (block.conv3.weight, block.bn3),
                (F.pad(block.conv1.weight, (1, 1, 1, 1)), block.bn1),
                (F.pad(identity, (1, 1, 1, 1)), block.bn0),
            ):
                factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)
                kernel = kernel + weight * factor[:, None, None, None]
                bias = bias + bn.bias - bn.running_mean * factor
        self.conv = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.conv.weight.data, self.conv.bias.data = kernel, bias
        self.eval()

    def forward(self, x):
        return self.conv(x).relu()


def example(B=2, H=5, W=6):
    return (torch.randn(B, CHANNELS, H, W),)


def inputs():
    return example()
