# EQUAL
"""ConvNeXt block: the official one (permute to NHWC, nn.Linear) and our mobile export (NCHW all the way, 1x1 convs)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, dim, layer_scale_init_value=0.1):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(layer_scale_init_value * torch.randn(dim))

    def forward(self, x):
        input = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.pwconv2(x)
        x = self.gamma * x
        x = x.permute(0, 3, 1, 2)
        return input + x


class LayerNormChannelsFirst(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class MobileBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.ln = LayerNormChannelsFirst(dim)
        self.expand = nn.Conv2d(dim, 4 * dim, 1)
        self.project = nn.Conv2d(4 * dim, dim, 1)
        self.layer_scale = nn.Parameter(torch.zeros(dim, 1, 1))

    @torch.no_grad()
    def load_official(self, b):
        self.dw.load_state_dict(b.dwconv.state_dict())
        self.ln.load_state_dict(b.norm.state_dict())
        self.expand.weight.copy_(b.pwconv1.weight[:, :, None, None])
        self.expand.bias.copy_(b.pwconv1.bias)
        self.project.weight.copy_(b.pwconv2.weight[:, :, None, None])
        self.project.bias.copy_(b.pwconv2.bias)
        self.layer_scale.copy_(b.gamma[:, None, None])
        return self

    def forward(self, x):
        h = self.ln(self.dw(x))
        h = self.project(F.gelu(self.expand(h)))
        return h * self.layer_scale + x


left = Block(12).eval()
nn.init.normal_(left.norm.weight)
nn.init.normal_(left.norm.bias)
right = MobileBlock(12).load_official(left).eval()
inputs = (torch.randn(2, 12, 14, 14),)
