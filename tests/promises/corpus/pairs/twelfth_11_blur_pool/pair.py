"""BlurPool: anti-aliased downsampling by a binomial filter."""
import torch
from torch import nn
from torch.nn import functional as F


class BlurPool2d(nn.Module):
    def __init__(self, channels=4, stride=2):
        super().__init__()
        self.channels, self.stride = channels, stride
        coeffs = torch.tensor([1.0, 2.0, 1.0]) / 4
        self.register_buffer("filt", (coeffs[:, None] * coeffs[None, :])[None, None].repeat(channels, 1, 1, 1), persistent=False)

    def forward(self, x):
        x = F.pad(x, (1, 1, 1, 1), mode="reflect")
        return F.conv2d(x, self.filt, stride=self.stride, groups=self.channels)


def blur_rows(x):
    x = torch.cat([x[..., 1:2], x, x[..., -2:-1]], dim=-1)
    return (x[..., :-2] + 2 * x[..., 1:-1] + x[..., 2:])[..., ::2] / 4


def right(x):
    return blur_rows(blur_rows(x).transpose(-1, -2)).transpose(-1, -2)


left = BlurPool2d()
inputs = (torch.randn(2, 4, 8, 6),)
