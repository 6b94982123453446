# DIFFERENT: Sub-pixel upsampler: nn.PixelShuffle (c r r) vs TensorFlow's depth_to_space channel order (r r c)
import torch
from torch import nn

C, R = 3, 2


class ESPCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(C, 8, 3, padding=1)
        self.tail = nn.Conv2d(8, C * R * R, 3, padding=1)
        self.up = nn.PixelShuffle(R)

    def forward(self, x):
        return self.up(self.tail(torch.tanh(self.body(x))))


class Port(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.body = nn.Conv2d(C, 8, 3, padding=1)
        self.tail = nn.Conv2d(8, C * R * R, 3, padding=1)
        self.load_state_dict(src.state_dict())

    def forward(self, x):
        y = self.tail(torch.tanh(self.body(x)))
        b, c, h, w = y.shape
        y = y.view(b, R, R, c // (R * R), h, w)
        y = y.permute(0, 3, 4, 1, 5, 2)
        return y.reshape(b, c // (R * R), h * R, w * R)


left = ESPCN()
right = Port(left)


def inputs():
    return (torch.randn(2, C, 4, 5),)
