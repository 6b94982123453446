# EQUAL.
"""RepVGG block in deploy form: 3x3+bn, 1x1+bn, identity bn merged into one 3x3 convolution. EQUAL up to rounding."""
import torch
from torch import nn


def conv_bn(cin, cout, k):
    bn = nn.BatchNorm2d(cout)
    bn.weight.data.uniform_(0.5, 1.5)
    bn.bias.data.normal_()
    bn.running_mean.normal_()
    bn.running_var.uniform_(0.5, 2)
    return nn.Sequential(nn.Conv2d(cin, cout, k, padding=k // 2, bias=False), bn)


class Train(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.dense = conv_bn(c, c, 3)
        self.point = conv_bn(c, c, 1)
        self.ident = conv_bn(c, c, 1)[1]

    def forward(self, x):
        return torch.relu(self.dense(x) + self.point(x) + self.ident(x))


def fuse(w, bn):
    t = bn.weight / (bn.running_var + bn.eps).sqrt()
    return w * t[:, None, None, None], bn.bias - bn.running_mean * t


@torch.no_grad()
def deploy(m):
    c = m.ident.num_features
    w3, b3 = fuse(m.dense[0].weight, m.dense[1])
    w1, b1 = fuse(m.point[0].weight, m.point[1])
    eye = torch.zeros(c, c, 3, 3)
    eye[range(c), range(c), 1, 1] = 1
    wi, bi = fuse(eye, m.ident)
    conv = nn.Conv2d(c, c, 3, padding=1)
    conv.weight.copy_(w3 + nn.functional.pad(w1, (1, 1, 1, 1)) + wi)
    conv.bias.copy_(b3 + b1 + bi)
    return nn.Sequential(conv, nn.ReLU())


left = Train().eval()
right = deploy(left).eval()
inputs = (torch.randn(2, 6, 5, 7),)
