import torch
from torch import nn

torch.manual_seed(102)


class Upsampler(nn.Module):
    """EDSR's tail: sub-pixel convolution."""

    def __init__(self, c=3, r=2):
        super().__init__()
        self.conv = nn.Conv2d(c, c * r * r, 3, padding=1)
        self.shuffle = nn.PixelShuffle(r)
        self.out = nn.Conv2d(c, 2, 3, padding=1)

    def forward(self, x):
        return self.out(self.shuffle(self.conv(x)))


class UpsamplerForExport(nn.Module):
    """The target runtime has no PixelShuffle."""

    def __init__(self, c=3, r=2):
        super().__init__()
        self.r = r
        self.conv = nn.Conv2d(c, c * r * r, 3, padding=1)
        self.out = nn.Conv2d(c, 2, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        n, crr, h, w = y.shape
        r = self.r
        y = y.reshape(n, crr // (r * r), r, r, h, w)
        y = y.permute(0, 1, 4, 2, 5, 3).reshape(n, crr // (r * r), h * r, w * r)
        return self.out(y)


left = Upsampler()
right = UpsamplerForExport()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 3, 4, 5),)
