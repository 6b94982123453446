import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class LayerNorm2d(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class Right(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        theirs = Left(dim)
        self.dwconv = theirs.dwconv
        self.norm = LayerNorm2d(theirs.norm)
        self.expand, self.shrink = nn.Conv2d(dim, 4 * dim, 1), nn.Conv2d(4 * dim, dim, 1)
        with torch.no_grad():
            self.expand.weight.copy_(theirs.pwconv1.weight[:, :, None, None])
            self.expand.bias.copy_(theirs.pwconv1.bias)
            self.shrink.weight.copy_((theirs.gamma[:, None] * theirs.pwconv2.weight)[:, :, None, None])
            self.shrink.bias.copy_(theirs.gamma * theirs.pwconv2.bias)

    def forward(self, x):
        return x + self.shrink(F.gelu(self.expand(self.norm(self.dwconv(x)))))


def inputs():
    return (torch.randn(2, 8, 5, 6),)
