# DIFFERENT.
"""ShuffleNet style unit: depthwise conv, group norm, squeeze-excite, channel shuffle. DIFFERENT: the rewrite's shuffle
reads (c/g, g) where it should read (g, c/g)."""
import torch
from torch import nn
import torch.nn.functional as F

C, G = 12, 3


class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.dw = nn.Conv2d(C, C, 3, padding=1, groups=C)
        self.gn = nn.GroupNorm(G, C)
        self.fc1 = nn.Conv2d(C, 4, 1)
        self.fc2 = nn.Conv2d(4, C, 1)

    def forward(self, x):
        x = F.relu(self.gn(self.dw(x)))
        x = x * torch.sigmoid(self.fc2(F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)))))
        b, c, h, w = x.shape
        return x.view(b, G, c // G, h, w).transpose(1, 2).reshape(b, c, h, w)


class Port(Unit):
    def forward(self, x):
        y = self.dw(x)
        b, c, h, w = y.shape
        z = y.reshape(b, G, -1)
        z = (z - z.mean(-1, keepdim=True)) / (z.var(-1, unbiased=False, keepdim=True) + self.gn.eps).sqrt()
        y = F.relu(z.reshape(b, c, h, w) * self.gn.weight[:, None, None] + self.gn.bias[:, None, None])
        s = y.mean((2, 3))
        s = F.relu(F.linear(s, self.fc1.weight[:, :, 0, 0], self.fc1.bias))
        s = F.linear(s, self.fc2.weight[:, :, 0, 0], self.fc2.bias).sigmoid()
        y = y * s[:, :, None, None]
        return y.unflatten(1, (c // G, G)).transpose(1, 2).flatten(1, 2)


left = Unit()
right = Port()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, C, 5, 4),)
