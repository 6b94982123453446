import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=4, out=6):
        super().__init__()
        self.conv = nn.Conv2d(2 * dim, out, kernel_size=1)

    def forward(self, x, idx):
        """x [B, C, N], idx [B, N, K]: neighbours"""
        b, c, n = x.shape
        k = idx.shape[2]
        base = torch.arange(b, device=x.device).view(-1, 1, 1) * n
        points = x.transpose(2, 1).reshape(b * n, c)
        feature = points[(idx + base).view(-1)].view(b, n, k, c)
        centre = points.view(b, n, 1, c).repeat(1, 1, k, 1)
        feature = torch.cat([feature - centre, centre], dim=3).permute(0, 3, 1, 2)
        return F.leaky_relu(self.conv(feature), negative_slope=0.2).max(dim=-1)[0]


def inputs():
    return torch.randn(2, 4, 5), torch.randint(0, 5, (2, 5, 3))
