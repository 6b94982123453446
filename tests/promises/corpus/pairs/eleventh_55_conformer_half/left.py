import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=8, hidden=16, kernel=5):
        super().__init__()
        self.ff_norm = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, hidden), nn.SiLU(), nn.Linear(hidden, dim))
        self.conv_norm = nn.LayerNorm(dim)
        self.pointwise1 = nn.Conv1d(dim, 2 * dim, 1)
        self.depthwise = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.bn = nn.BatchNorm1d(dim)
        self.pointwise2 = nn.Conv1d(dim, dim, 1)
        for norm in (self.ff_norm, self.conv_norm, self.bn):
            nn.init.normal_(norm.weight, 1.0, 0.3)
            nn.init.normal_(norm.bias, 0.0, 0.3)
        nn.init.normal_(self.bn.running_mean)
        nn.init.uniform_(self.bn.running_var, 0.5, 1.5)
        self.eval()

    def forward(self, x):
        x = x + 0.5 * self.ff(self.ff_norm(x))
        y = self.conv_norm(x).transpose(1, 2)
        y = F.glu(self.pointwise1(y), dim=1)
        y = F.silu(self.bn(self.depthwise(y)))
        return x + self.pointwise2(y).transpose(1, 2)


def inputs():
    return (torch.randn(2, 6, 8),)
