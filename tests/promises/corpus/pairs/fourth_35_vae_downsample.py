# DIFFERENT: right pads 1 on every side (padding=1), left only right and bottom (0,1,0,1). Place: F.conv2d(..., stride=2, padding=1)
"""Encoder of a KL-VAE: the downsampling of CompVis with its asymmetric padding, and the port from NHWC TensorFlow."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(35)


def Normalize(ch):
    return nn.GroupNorm(num_groups=2, num_channels=ch, eps=1e-6, affine=True)


class Downsample(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv = nn.Conv2d(ch, ch, kernel_size=3, stride=2, padding=0)

    def forward(self, x):
        x = nn.functional.pad(x, (0, 1, 0, 1), mode="constant", value=0)
        return self.conv(x)


class ResnetBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.norm1, self.conv1 = Normalize(ch), nn.Conv2d(ch, ch, 3, padding=1)
        self.norm2, self.conv2 = Normalize(ch), nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        h = self.conv1(F.silu(self.norm1(x)))
        return x + self.conv2(F.silu(self.norm2(h)))


class Encoder(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.conv_in = nn.Conv2d(3, ch, 3, padding=1)
        self.block = ResnetBlock(ch)
        self.down = Downsample(ch)
        self.conv_out = nn.Conv2d(ch, 4, 1)

    def forward(self, x):
        mean, logvar = self.conv_out(self.down(self.block(self.conv_in(x)))).chunk(2, 1)
        return mean, logvar.clamp(-30.0, 20.0)


class Port(nn.Module):
    def __init__(self, enc):
        super().__init__()
        self.enc = enc

    def forward(self, x):
        e = self.enc
        h = e.conv_in(x)
        r = e.block
        for norm, conv in ((r.norm1, r.conv1), (r.norm2, r.conv2)):
            y = F.group_norm(h if norm is r.norm1 else y, 2, norm.weight, norm.bias, 1e-6)
            y = conv(y * y.sigmoid())
        h = h + y
        h = F.conv2d(h, e.down.conv.weight, e.down.conv.bias, stride=2, padding=1)
        out = e.conv_out(h)
        mean, logvar = out[:, :2], out[:, 2:]
        return mean, torch.clip(logvar, -30, 20)


left = Encoder().eval()
right = Port(left).eval()
inputs = (torch.randn(1, 3, 12, 12),)
