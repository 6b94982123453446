import torch
from torch import nn

from a import program as original


@torch.no_grad()
def fuse(conv, bn):
    scale = bn.weight * torch.rsqrt(bn.running_var + bn.eps)
    fused = nn.Conv2d(conv.in_channels, conv.out_channels, 3, padding=1)
    fused.weight.copy_(conv.weight * scale[:, None, None, None])
    fused.bias.copy_(conv.bias - bn.running_mean * scale + bn.bias)
    return fused


program = nn.Sequential(
    fuse(original.conv1, original.bn1), nn.ReLU(), fuse(original.conv2, original.bn2), nn.ReLU()
).eval()
