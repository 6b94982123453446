"""YOLOv5's stem: the Focus layer of early releases and the strided convolution that replaced it."""
import torch
from torch import nn


class Focus(nn.Module):
    def __init__(self, c1=3, c2=6):
        super().__init__()
        self.conv = nn.Conv2d(c1 * 4, c2, 3, 1, 1)
        self.act = nn.SiLU()

    def forward(self, x):
        phases = torch.cat((x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]), 1)
        return self.act(self.conv(phases))


class Stem(nn.Module):
    def __init__(self, focus):
        super().__init__()
        w = focus.conv.weight.detach()
        c2, c1 = w.shape[0], w.shape[1] // 4
        self.conv = nn.Conv2d(c1, c2, 6, 2, 2)
        for i, (dy, dx) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
            self.conv.weight.data[:, :, dy::2, dx::2] = w[:, i * c1 : (i + 1) * c1]
        self.conv.bias.data.copy_(focus.conv.bias.data)

    def forward(self, x):
        y = self.conv(x)
        return y * y.sigmoid()


torch.manual_seed(19)
left = Focus()
right = Stem(left)
inputs = (torch.randn(2, 3, 8, 12),)
