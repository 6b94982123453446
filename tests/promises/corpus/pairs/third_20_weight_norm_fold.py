# EQUAL: Residual stack with torch's weight_norm parametrization (causal conv) vs plain convs with the norm folded in
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

CH = 6


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = weight_norm(nn.Conv1d(CH, CH, 3, dilation=2))
        self.conv2 = weight_norm(nn.Conv1d(CH, CH, 3, dilation=2))
        with torch.no_grad():
            for c in (self.conv1, self.conv2):
                c.parametrizations.weight.original0.mul_(torch.rand(CH, 1, 1) + 0.5)

    def forward(self, x):
        y = F.relu(self.conv1(F.pad(x, (4, 0))))
        y = F.relu(self.conv2(F.pad(y, (4, 0))))
        return F.relu(x + y)


class Folded(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.conv1 = nn.Conv1d(CH, CH, 3, dilation=2)
        self.conv2 = nn.Conv1d(CH, CH, 3, dilation=2)
        with torch.no_grad():
            for dst, s in ((self.conv1, src.conv1), (self.conv2, src.conv2)):
                g, v = s.parametrizations.weight.original0, s.parametrizations.weight.original1
                dst.weight.copy_(g * v / v.flatten(1).norm(dim=1).view(-1, 1, 1))
                dst.bias.copy_(s.bias)

    def forward(self, x):
        n = x.shape[-1]
        pad = x.new_zeros(x.shape[0], CH, 4)
        y = self.conv1(torch.cat([pad, x], -1)).clamp(min=0)
        y = self.conv2(torch.cat([pad, y], -1)).clamp_min(0)
        return (x + y).relu()


left = TCN()
right = Folded(left)


def inputs():
    return (torch.randn(2, CH, 9),)
