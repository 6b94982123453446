# EQUAL: MobileNet inverted residual: conv + BN (eval) with ReLU6 vs convs with BN folded into weight and bias
import torch
from torch import nn
import torch.nn.functional as F

CIN, EXP = 4, 8


class Inverted(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(CIN, EXP, 1, bias=False), nn.BatchNorm2d(EXP), nn.ReLU6(),
            nn.Conv2d(EXP, EXP, 3, padding=1, groups=EXP, bias=False), nn.BatchNorm2d(EXP), nn.ReLU6(),
            nn.Conv2d(EXP, CIN, 1, bias=False), nn.BatchNorm2d(CIN),
        )
        for m in self.conv:
            if isinstance(m, nn.BatchNorm2d):
                m.running_mean.normal_(0, 0.2)
                m.running_var.uniform_(0.5, 2)
                nn.init.uniform_(m.weight, 0.5, 1.5)
                nn.init.normal_(m.bias, std=0.2)

    def forward(self, x):
        return x + self.conv(x)


def fuse(conv, bn):
    out = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, padding=conv.padding, groups=conv.groups, bias=True)
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    out.weight.data = (conv.weight * scale.view(-1, 1, 1, 1)).detach()
    out.bias.data = (bn.bias - bn.running_mean * scale).detach()
    return out


class Deployed(nn.Module):
    def __init__(self, src):
        super().__init__()
        c = src.conv
        self.expand, self.dw, self.project = fuse(c[0], c[1]), fuse(c[3], c[4]), fuse(c[6], c[7])

    def forward(self, x):
        y = torch.clamp(self.expand(x), 0, 6)
        y = F.hardtanh(self.dw(y), 0.0, 6.0)
        return self.project(y) + x


left = Inverted().eval()
right = Deployed(left).eval()


def inputs():
    return (torch.randn(2, CIN, 5, 5),)
