"""Efficient channel attention (ECA-Net)."""
import torch
from torch import nn
from torch.nn import functional as F


class ECA(nn.Module):
    def __init__(self, k_size=3):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.conv = nn.Conv1d(1, 1, kernel_size=k_size, padding=(k_size - 1) // 2, bias=False)

    def forward(self, x):
        y = self.avg_pool(x)
        y = self.conv(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        return x * torch.sigmoid(y).expand_as(x)


class ECAByShifts(nn.Module):
    def __init__(self, eca):
        super().__init__()
        self.taps = nn.Parameter(eca.conv.weight.detach().flatten().clone())

    def forward(self, x):
        pooled = x.mean(dim=(2, 3))
        before = F.pad(pooled, (1, 0))[:, :-1]
        after = F.pad(pooled, (0, 1))[:, 1:]
        score = self.taps[0] * before + self.taps[1] * pooled + self.taps[2] * after
        return x * torch.sigmoid(score)[:, :, None, None]


torch.manual_seed(5)
left = ECA()
right = ECAByShifts(left)
inputs = (torch.randn(2, 6, 5, 4),)
