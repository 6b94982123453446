# DIFFERENT
import torch
from torch import nn


class ChannelGate(nn.Module):
    def __init__(self, c, r=2):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(c, c // r), nn.ReLU(), nn.Linear(c // r, c))

    def forward(self, x):
        avg = self.mlp(x.mean((2, 3)))
        mx = self.mlp(x.amax((2, 3)))
        return x * torch.sigmoid(avg + mx)[:, :, None, None]


class CBAM(nn.Module):
    """Channel attention, then spatial attention over the maximum and the mean of the channels."""
    def __init__(self, c=6, k=3):
        super().__init__()
        self.channel = ChannelGate(c)
        self.spatial = nn.Conv2d(2, 1, k, padding=k // 2, bias=False)

    def forward(self, x):
        x = self.channel(x)
        pooled = torch.cat((x.max(1, keepdim=True)[0], x.mean(1, keepdim=True)), dim=1)
        return x * torch.sigmoid(self.spatial(pooled))


class CBAMKerasPort(CBAM):
    def forward(self, x):
        x = self.channel(x)
        avg_pool = torch.mean(x, dim=1, keepdim=True)
        max_pool = torch.amax(x, dim=1, keepdim=True)
        attention = self.spatial(torch.cat([avg_pool, max_pool], dim=1)).sigmoid()
        return torch.mul(x, attention)


left = CBAM
right = CBAMKerasPort


def inputs():
    return (torch.randn(2, 6, 5, 4),)
