# EQUAL.
"""conv_transpose2d (stride 2, output_padding) vs zeros between pixels and an ordinary convolution with the turned kernel. EQUAL."""
import torch
import torch.nn.functional as F
from torch import nn


class Deconv(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 5, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        return self.up(x)


class ByConv(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.kernel = nn.Parameter(m.up.weight.data.transpose(0, 1).flip(2, 3).contiguous())
        self.bias = nn.Parameter(m.up.bias.data.clone())

    def forward(self, x):
        n, c, h, w = x.shape
        big = x.new_zeros(n, c, 2 * h - 1, 2 * w - 1)
        big[:, :, ::2, ::2] = x
        big = F.pad(big, (1, 2, 1, 2))       # k-1-p = 1 on each side, and one more at the end
        return F.conv2d(big, self.kernel, self.bias)


left = Deconv()
right = ByConv(left)
inputs = (torch.randn(2, 3, 4, 5),)
