# EQUAL: Small U-Net with GroupNorm, maxpool, nearest upsampling and skip concat vs port with split convolution weights and composite group norm
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, padding=1)
        self.norm = nn.GroupNorm(2, o)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = Block(3, 4)
        self.mid = Block(4, 6)
        self.up = Block(10, 4)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        s = self.down(x)
        m = self.mid(F.max_pool2d(s, 2))
        m = F.interpolate(m, scale_factor=2, mode="nearest")
        return self.head(self.up(torch.cat([m, s], 1)))


def group_norm(x, norm):
    n, c, h, w = x.shape
    y = x.view(n, norm.num_groups, -1)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).pow(2).mean(-1, keepdim=True)
    y = ((y - mean) / torch.sqrt(var + norm.eps)).view(n, c, h, w)
    return y * norm.weight[:, None, None] + norm.bias[:, None, None]


class Port(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.up_m, self.up_s = nn.Conv2d(6, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.n1, self.n2, self.n3 = nn.GroupNorm(2, 4), nn.GroupNorm(2, 6), nn.GroupNorm(2, 4)
        self.head = nn.Linear(4, 2)
        self.c1.load_state_dict(src.down.conv.state_dict())
        self.c2.load_state_dict(src.mid.conv.state_dict())
        self.n1.load_state_dict(src.down.norm.state_dict())
        self.n2.load_state_dict(src.mid.norm.state_dict())
        self.n3.load_state_dict(src.up.norm.state_dict())
        with torch.no_grad():
            self.up_m.weight.copy_(src.up.conv.weight[:, :6])
            self.up_m.bias.copy_(src.up.conv.bias)
            self.up_s.weight.copy_(src.up.conv.weight[:, 6:])
            self.head.weight.copy_(src.head.weight.flatten(1))
            self.head.bias.copy_(src.head.bias)

    def forward(self, x):
        s = group_norm(self.c1(x), self.n1)
        s = s * s.sigmoid()
        n, c, h, w = s.shape
        p = s.view(n, c, h // 2, 2, w // 2, 2).amax((3, 5))
        m = group_norm(self.c2(p), self.n2)
        m = m * m.sigmoid()
        m = m.repeat_interleave(2, -1).repeat_interleave(2, -2)
        y = group_norm(self.up_m(m) + self.up_s(s), self.n3)
        y = y * y.sigmoid()
        return self.head(y.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


left = UNet()
right = Port(left)


def inputs():
    return (torch.randn(2, 3, 4, 4),)
