"""DLinear (Zeng et al. 2023) with subtraction of the last value, and a regrouped form."""
import torch
import torch.nn.functional as F
from torch import nn

K = 5


class DLinear(nn.Module):
    def __init__(self, seq=16, pred=6):
        super().__init__()
        self.Linear_Seasonal = nn.Linear(seq, pred)
        self.Linear_Trend = nn.Linear(seq, pred)
        self.avg = nn.AvgPool1d(kernel_size=K, stride=1, padding=0)

    def moving_avg(self, x):
        front = x[:, 0:1, :].repeat(1, (K - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (K - 1) // 2, 1)
        x = torch.cat([front, x, end], dim=1)
        return self.avg(x.permute(0, 2, 1)).permute(0, 2, 1)

    def forward(self, x):
        last = x[:, -1:, :].detach()
        x = x - last
        trend = self.moving_avg(x)
        seasonal = x - trend
        s = self.Linear_Seasonal(seasonal.permute(0, 2, 1))
        t = self.Linear_Trend(trend.permute(0, 2, 1))
        return (s + t).permute(0, 2, 1) + last


class Regrouped(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.ws, self.bs = (nn.Parameter(p.detach().clone()) for p in (m.Linear_Seasonal.weight, m.Linear_Seasonal.bias))
        self.wt, self.bt = (nn.Parameter(p.detach().clone()) for p in (m.Linear_Trend.weight, m.Linear_Trend.bias))

    def forward(self, x):
        last = x[:, -1].unsqueeze(1)
        u = (x - last).mT                                                       # B, C, T
        smooth = F.pad(u, (K // 2, K // 2), mode="replicate").unfold(-1, K, 1).mean(-1)
        y = u @ self.ws.T + smooth @ (self.wt - self.ws).T + (self.bs + self.bt)
        return y.mT + last


left = DLinear()
right = Regrouped(left)
inputs = (torch.randn(3, 16, 4),)
