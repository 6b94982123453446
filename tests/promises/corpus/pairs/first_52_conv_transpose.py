# EQUAL. ConvTranspose2d(k=3, s=2, p=1, output_padding=1) vs zero-stuffed input and an ordinary conv with flipped kernels
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
left = nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)


class Stuffed(nn.Module):
    def __init__(self, ct):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.conv.weight.data = ct.weight.data.flip(2, 3).transpose(0, 1).contiguous()
        self.conv.bias.data = ct.bias.data.clone()

    def forward(self, x):
        n, c, h, w = x.shape
        z = x.new_zeros(n, c, 2 * h - 1, 2 * w - 1)
        z[:, :, ::2, ::2] = x
        return self.conv(F.pad(z, (1, 2, 1, 2)))


right = Stuffed(left)
inputs = (torch.randn(2, 3, 4, 5),)
