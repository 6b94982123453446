"""Patch merging; the port works in NCHW and lets pixel_unshuffle do the gathering."""
import torch
from torch import nn
from torch.nn import functional as F

C = 6


class PatchMerging(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4 * C)
        self.reduction = nn.Linear(4 * C, 2 * C, bias=False)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        return self.reduction(self.norm(torch.cat([x0, x1, x2, x3], -1)))


class Unshuffled(nn.Module):
    def __init__(self, ref):
        super().__init__()
        # channel c * 4 + dy * 2 + dx of pixel_unshuffle is channel (dx * 2 + dy) * C + c over there
        order = torch.arange(4 * C).view(2, 2, C).permute(2, 1, 0).reshape(-1)
        self.gamma = nn.Parameter(ref.norm.weight.detach()[order].clone())
        self.beta = nn.Parameter(ref.norm.bias.detach()[order].clone())
        self.weight = nn.Parameter(ref.reduction.weight.detach()[:, order].clone())

    def forward(self, x):
        y = F.pixel_unshuffle(x.permute(0, 3, 1, 2), 2)
        mean = y.mean(1, keepdim=True)
        var = (y - mean).pow(2).mean(1, keepdim=True)
        y = (y - mean) / torch.sqrt(var + 1e-5)
        y = y * self.gamma.view(1, -1, 1, 1) + self.beta.view(1, -1, 1, 1)
        return F.conv2d(y, self.weight[:, :, None, None]).permute(0, 2, 3, 1)


left = PatchMerging()
right = Unshuffled(left)
inputs = (torch.randn(2, 4, 6, C),)
