# EQUAL
import torch
from torch import nn
import torch.nn.functional as F


def conv_bn(c_in, c_out, k):
    m = nn.Sequential()
    m.add_module("conv", nn.Conv2d(c_in, c_out, k, padding=k // 2, bias=False))
    m.add_module("bn", nn.BatchNorm2d(c_out))
    return m


class RepVGGBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.rbr_dense = conv_bn(c, c, 3)
        self.rbr_1x1 = conv_bn(c, c, 1)
        self.rbr_identity = nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(self.rbr_dense(x) + self.rbr_1x1(x) + self.rbr_identity(x))


def fuse(kernel, bn):
    t = bn.weight / (bn.running_var + bn.eps).sqrt()
    return kernel * t[:, None, None, None], bn.bias - bn.running_mean * t


class Deployed(nn.Module):
    def __init__(self, block):
        super().__init__()
        c = block.rbr_identity.num_features
        identity = torch.zeros(c, c, 3, 3)
        identity[range(c), range(c), 1, 1] = 1
        with torch.no_grad():
            k3, b3 = fuse(block.rbr_dense.conv.weight, block.rbr_dense.bn)
            k1, b1 = fuse(F.pad(block.rbr_1x1.conv.weight, [1, 1, 1, 1]), block.rbr_1x1.bn)
            ki, bi = fuse(identity, block.rbr_identity)
        self.rbr_reparam = nn.Conv2d(c, c, 3, padding=1)
        self.rbr_reparam.weight.data = k3 + k1 + ki
        self.rbr_reparam.bias.data = b3 + b1 + bi

    def forward(self, x):
        return self.rbr_reparam(x).relu()


torch.manual_seed(2101)
left = RepVGGBlock(4).eval()
for m in left.modules():
    if isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight)
        nn.init.normal_(m.bias)
        nn.init.normal_(m.running_mean)
        nn.init.uniform_(m.running_var, 0.5, 1.5)
right = Deployed(left).eval()
inputs = (torch.randn(2, 4, 5, 6),)
