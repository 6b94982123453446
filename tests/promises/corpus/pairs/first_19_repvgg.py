# EQUAL (up to rounding). RepVGG: 3x3+bn, 1x1+bn, identity bn vs one 3x3 convolution
import torch
import torch.nn as nn
import torch.nn.functional as F

C = 6


class RepVGG(nn.Module):
    def __init__(self):
        super().__init__()
        self.rbr_dense = nn.Sequential()
        self.rbr_dense.add_module("conv", nn.Conv2d(C, C, 3, 1, 1, bias=False))
        self.rbr_dense.add_module("bn", nn.BatchNorm2d(C))
        self.rbr_1x1 = nn.Sequential()
        self.rbr_1x1.add_module("conv", nn.Conv2d(C, C, 1, 1, 0, bias=False))
        self.rbr_1x1.add_module("bn", nn.BatchNorm2d(C))
        self.rbr_identity = nn.BatchNorm2d(C)

    def forward(self, x):
        return F.relu(self.rbr_dense(x) + self.rbr_1x1(x) + self.rbr_identity(x))

    def _fuse(self, kernel, bn):
        std = (bn.running_var + bn.eps).sqrt()
        t = (bn.weight / std).reshape(-1, 1, 1, 1)
        return kernel * t, bn.bias - bn.running_mean * bn.weight / std

    @torch.no_grad()
    def deploy(self):
        k3, b3 = self._fuse(self.rbr_dense.conv.weight, self.rbr_dense.bn)
        k1, b1 = self._fuse(F.pad(self.rbr_1x1.conv.weight, [1, 1, 1, 1]), self.rbr_1x1.bn)
        ident = torch.zeros(C, C, 3, 3)
        for i in range(C):
            ident[i, i, 1, 1] = 1
        ki, bi = self._fuse(ident, self.rbr_identity)
        conv = nn.Conv2d(C, C, 3, 1, 1)
        conv.weight.copy_(k3 + k1 + ki)
        conv.bias.copy_(b3 + b1 + bi)
        return nn.Sequential(conv, nn.ReLU())


torch.manual_seed(0)
left = RepVGG().eval()
with torch.no_grad():
    for m in left.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.weight.uniform_(.5, 1.5); m.bias.normal_(); m.running_mean.normal_(); m.running_var.uniform_(.5, 1.5)
right = left.deploy().eval()
inputs = (torch.randn(2, C, 7, 7),)
