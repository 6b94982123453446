# EQUAL
"""RepVGG: three branches with batch norms as trained, and the single 3x3 convolution that is deployed."""
import torch
import torch.nn as nn

torch.manual_seed(13)


def conv_bn(cin, cout, k, stride, padding):
    seq = nn.Sequential()
    seq.add_module("conv", nn.Conv2d(cin, cout, k, stride, padding, bias=False))
    seq.add_module("bn", nn.BatchNorm2d(cout))
    return seq


class RepVGGBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.rbr_identity = nn.BatchNorm2d(ch)
        self.rbr_dense = conv_bn(ch, ch, 3, 1, 1)
        self.rbr_1x1 = conv_bn(ch, ch, 1, 1, 0)
        self.nonlinearity = nn.ReLU()

    def forward(self, x):
        return self.nonlinearity(self.rbr_dense(x) + self.rbr_1x1(x) + self.rbr_identity(x))

    def get_equivalent_kernel_bias(self):
        k3, b3 = self._fuse(self.rbr_dense)
        k1, b1 = self._fuse(self.rbr_1x1)
        kid, bid = self._fuse(self.rbr_identity)
        return k3 + nn.functional.pad(k1, [1, 1, 1, 1]) + kid, b3 + b1 + bid

    def _fuse(self, branch):
        if isinstance(branch, nn.Sequential):
            kernel, bn = branch.conv.weight, branch.bn
        else:
            bn = branch
            n = bn.num_features
            kernel = torch.zeros(n, n, 3, 3)
            for i in range(n):
                kernel[i, i, 1, 1] = 1
        std = (bn.running_var + bn.eps).sqrt()
        t = (bn.weight / std).reshape(-1, 1, 1, 1)
        return kernel * t, bn.bias - bn.running_mean * bn.weight / std


def trained(net):
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.running_mean, -0.1, 0.1)
            nn.init.uniform_(m.running_var, 0.5, 1.5)
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.uniform_(m.bias, -0.2, 0.2)
    return net.eval()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = nn.Sequential(RepVGGBlock(6), RepVGGBlock(6))
        self.gap = nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(6, 4)

    def forward(self, x):
        return self.linear(self.gap(self.stage(x)).flatten(1))


class Deployed(nn.Module):
    def __init__(self, net):
        super().__init__()
        layers = []
        for block in net.stage:
            kernel, bias = block.get_equivalent_kernel_bias()
            conv = nn.Conv2d(6, 6, 3, padding=1)
            conv.weight.data, conv.bias.data = kernel.data, bias.data
            layers += [conv, nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.linear = nn.Linear(6, 4)
        self.linear.load_state_dict(net.linear.state_dict())

    def forward(self, x):
        return self.linear(self.features(x).mean((2, 3)))


left = trained(Net())
right = Deployed(left).eval()
inputs = (torch.randn(2, 6, 10, 10),)
