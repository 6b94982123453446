import torch
import torch.nn.functional as F
from torch import nn


class CosineHead(nn.Module):
    def __init__(self, dim=16, classes=5, scale=30.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim))
        self.scale = scale

    def forward(self, x):
        x = F.normalize(x, dim=1, eps=1e-6)
        w = F.normalize(self.weight, dim=1, eps=1e-6)
        return self.scale * F.linear(x, w)


class CosineHeadTF(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.kernel = nn.Parameter(ref.weight.detach().t().clone())
        self.scale = ref.scale

    def forward(self, x):
        x_norm = torch.sqrt((x * x).sum(1, keepdim=True))
        k_norm = torch.sqrt((self.kernel * self.kernel).sum(0, keepdim=True))
        return self.scale * (x / (x_norm + 1e-6)) @ (self.kernel / (k_norm + 1e-6))


left = CosineHead()
right = CosineHeadTF(left)
inputs = (torch.randn(4, 16),)
