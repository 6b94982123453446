"""RepVGG block: training-time branches against the deployed convolution."""
import torch
from torch import nn
from torch.nn import functional as F


def conv_bn(channels, kernel):
    block = nn.Sequential()
    block.add_module("conv", nn.Conv2d(channels, channels, kernel, padding=kernel // 2, bias=False))
    block.add_module("bn", drawn(nn.BatchNorm2d(channels)))
    return block


def drawn(bn):
    nn.init.uniform_(bn.weight, 0.5, 1.5)
    nn.init.normal_(bn.bias)
    nn.init.normal_(bn.running_mean)
    nn.init.uniform_(bn.running_var, 0.5, 2.0)
    return bn


class RepVGG(nn.Module):
    def __init__(self, channels=3):
        super().__init__()
        self.dense, self.pointwise = conv_bn(channels, 3), conv_bn(channels, 1)
        self.identity = drawn(nn.BatchNorm2d(channels))

    def forward(self, x):
        return F.relu(self.dense(x) + self.pointwise(x) + self.identity(x))


class Deployed(nn.Module):
    def __init__(self, block):
        super().__init__()
        channels = block.identity.num_features
        self.reparam = nn.Conv2d(channels, channels, 3, padding=1)
        eye = torch.zeros(channels, channels, 3, 3)
        eye[range(channels), range(channels), 1, 1] = 1
        kernels = [(block.dense.conv.weight, block.dense.bn),
                   (F.pad(block.pointwise.conv.weight, (1, 1, 1, 1)), block.pointwise.bn), (eye, block.identity)]
        with torch.no_grad():
            weight, bias = 0, 0
            for kernel, bn in kernels:
                factor = bn.weight / (bn.running_var + bn.eps).sqrt()
                weight = weight + kernel * factor.view(-1, 1, 1, 1)
                bias = bias + bn.bias - bn.running_mean * factor
            self.reparam.weight.copy_(weight)
            self.reparam.bias.copy_(bias)

    def forward(self, x):
        return F.relu(self.reparam(x))


left = RepVGG().eval()
right = Deployed(left).eval()
inputs = (torch.randn(2, 3, 5, 6),)
