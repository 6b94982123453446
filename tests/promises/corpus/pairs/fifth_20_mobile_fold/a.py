import torch
from torch import nn


def conv_bn(inside, outside, kernel, groups=1, act=True):
    layers = [
        nn.Conv2d(inside, outside, kernel, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outside),
    ]
    return nn.Sequential(*layers, *([nn.ReLU6()] if act else []))


class InvertedResidual(nn.Module):
    def __init__(self, channels=6, expand=3):
        super().__init__()
        hidden = channels * expand
        self.conv = nn.Sequential(
            conv_bn(channels, hidden, 1),
            conv_bn(hidden, hidden, 3, groups=hidden),
            conv_bn(hidden, channels, 1, act=False),
        )

    def forward(self, x):
        return x + self.conv(x)


def make():
    torch.manual_seed(0)
    block = InvertedResidual()
    for module in block.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.3)
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    return block.eval()


program = make()
