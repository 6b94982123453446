"""DCGAN discriminator ported from TensorFlow, where tf.nn.leaky_relu has the slope 0.2: the port takes torch's 0.01."""
import torch
from torch import nn
from torch.nn import functional as F


class left(nn.Module):
    """What the TensorFlow code computes: NHWC in, HWIO kernels."""

    def __init__(self):
        super().__init__()
        self.k1, self.b1 = nn.Parameter(torch.randn(3, 3, 2, 4) * 0.3), nn.Parameter(torch.randn(4) * 0.1)
        self.k2, self.b2 = nn.Parameter(torch.randn(3, 3, 4, 6) * 0.2), nn.Parameter(torch.randn(6) * 0.1)
        self.dense = nn.Parameter(torch.randn(6, 1))

    def conv(self, x, k, b):
        return F.conv2d(x.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), b, stride=2, padding=1).permute(0, 2, 3, 1)

    def forward(self, x):
        for k, b in ((self.k1, self.b1), (self.k2, self.b2)):
            y = self.conv(x, k, b)
            x = torch.maximum(y, 0.2 * y)
        return x.mean((1, 2)) @ self.dense


class right(nn.Module):
    def __init__(self):
        super().__init__()
        tf = left()
        self.net = nn.Sequential(nn.Conv2d(2, 4, 3, 2, 1), nn.LeakyReLU(), nn.Conv2d(4, 6, 3, 2, 1), nn.LeakyReLU())
        for conv, k, b in ((self.net[0], tf.k1, tf.b1), (self.net[2], tf.k2, tf.b2)):
            conv.weight.data, conv.bias.data = k.detach().permute(3, 2, 0, 1).contiguous(), b.detach()
        self.head = nn.Linear(6, 1, bias=False)
        self.head.weight.data = tf.dense.detach().T.contiguous()

    def forward(self, x):
        return self.head(self.net(x.permute(0, 3, 1, 2)).mean((2, 3)))


def inputs():
    return (torch.randn(2, 8, 6, 2),)
