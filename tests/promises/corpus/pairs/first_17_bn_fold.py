# EQUAL (up to rounding of stored weights). conv-bn-relu twice vs convs with the norms folded in, as torch.nn.utils.fusion does
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

torch.manual_seed(0)


def block(i, o, s):
    return [nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)]


left = nn.Sequential(*block(3, 8, 1), *block(8, 6, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
for m in left:
    if isinstance(m, nn.BatchNorm2d):
        m.running_mean.normal_()
        m.running_var.uniform_(0.5, 2)
        nn.init.uniform_(m.weight, 0.5, 1.5)
        nn.init.normal_(m.bias)
left.eval()
right = nn.Sequential(
    fuse_conv_bn_eval(left[0], left[1]), nn.ReLU(),
    fuse_conv_bn_eval(left[3], left[4]), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
inputs = (torch.randn(2, 3, 8, 8),)
