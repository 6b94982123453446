# EQUAL. GroupNorm then InstanceNorm(affine) vs einops-like reshapes and E[x^2] - E[x]^2
import torch
from torch import nn


class Lib(nn.Module):
    def __init__(self):
        super().__init__()
        self.gn = nn.GroupNorm(2, 6)
        self.inn = nn.InstanceNorm2d(6, affine=True)
        for p in self.parameters():
            nn.init.normal_(p, 0.5, 0.5)

    def forward(self, x):
        return self.inn(torch.relu(self.gn(x)))


class Hand(nn.Module):
    def __init__(self, m):
        super().__init__()
        sd = m.state_dict()
        self.gw, self.gb, self.iw, self.ib = (nn.Parameter(sd[k].view(-1, 1, 1).clone()) for k in
                                              ("gn.weight", "gn.bias", "inn.weight", "inn.bias"))

    def forward(self, x):
        n, c, h, w = x.shape
        g = x.view(n, 2, -1)
        mu = g.mean(2, keepdim=True)
        var = g.pow(2).mean(2, keepdim=True) - mu ** 2
        y = ((g - mu) * torch.rsqrt(var + 1e-5)).view(n, c, h, w) * self.gw + self.gb
        y = y.clamp(min=0)
        v, m = torch.var_mean(y, dim=(2, 3), keepdim=True, correction=0)
        return (y - m) / torch.sqrt(v + 1e-5) * self.iw + self.ib


torch.manual_seed(0)
left = Lib()
right = Hand(left)
inputs = (torch.randn(2, 6, 4, 4),)
