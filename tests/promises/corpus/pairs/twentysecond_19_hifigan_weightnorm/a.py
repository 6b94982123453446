"""A stage of HiFi-GAN's generator: a weight-normalised transposed convolution and a residual block, as it is trained."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm


class Stage(nn.Module):
    def __init__(self, channels=8, out=4, rate=2, slope=0.1):
        super().__init__()
        self.slope = slope
        self.up = weight_norm(nn.ConvTranspose1d(channels, out, 2 * rate, rate, padding=rate // 2))
        self.convs1 = nn.ModuleList(weight_norm(nn.Conv1d(out, out, 3, dilation=d, padding=d)) for d in (1, 3))
        self.convs2 = nn.ModuleList(weight_norm(nn.Conv1d(out, out, 3, padding=1)) for _ in range(2))
        self.conv_post = weight_norm(nn.Conv1d(out, 1, 7, padding=3))

    def forward(self, mel):
        x = self.up(F.leaky_relu(mel, self.slope))
        for c1, c2 in zip(self.convs1, self.convs2):
            h = c1(F.leaky_relu(x, self.slope))
            x = x + c2(F.leaky_relu(h, self.slope))
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


def inputs():
    return (torch.randn(2, 8, 9),)
