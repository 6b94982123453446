"""NFNet residual block with scaled weight standardisation; the port replaces batch_norm by torch.var."""
import torch
import torch.nn.functional as F
from torch import nn

GAMMA = 1.7139588594436646


class ScaledStdConv2d(nn.Conv2d):
    def __init__(self, i, o, k, **kw):
        super().__init__(i, o, k, **kw)
        self.gain = nn.Parameter(torch.rand(o, 1, 1, 1) + 0.5)
        self.scale = self.weight[0].numel() ** -0.5
        self.eps = 1e-6

    def forward(self, x):
        w = F.batch_norm(self.weight.reshape(1, self.out_channels, -1), None, None,
                         weight=(self.gain * self.scale).view(-1), training=True, momentum=0.0, eps=self.eps).reshape_as(self.weight)
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


class PlainStdConv2d(ScaledStdConv2d):
    def forward(self, x):
        fan_in = self.weight[0].numel()
        mean = self.weight.mean(dim=(1, 2, 3), keepdim=True)
        var = self.weight.var(dim=(1, 2, 3), keepdim=True)
        w = (self.weight - mean) * torch.rsqrt(fan_in * (var + self.eps)) * self.gain
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


class Block(nn.Module):
    def __init__(self, conv, c=4, alpha=0.2, beta=1.1):
        super().__init__()
        self.alpha, self.beta = alpha, beta
        self.conv1, self.conv2, self.conv3 = conv(c, 6, 1), conv(6, 6, 3, padding=1), conv(6, c, 1)

    def forward(self, x):
        h = F.relu(x) * GAMMA * self.beta
        h = self.conv1(h)
        h = self.conv2(F.relu(h) * GAMMA)
        h = self.conv3(F.relu(h) * GAMMA)
        return x + self.alpha * h


torch.manual_seed(2)
left = Block(ScaledStdConv2d)
right = Block(PlainStdConv2d)
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 4, 6, 6),)
