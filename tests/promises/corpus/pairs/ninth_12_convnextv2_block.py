# EQUAL
import torch
from torch import nn
import torch.nn.functional as F


class GRN(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(1, 1, 1, dim))
        self.beta = nn.Parameter(torch.randn(1, 1, 1, dim))

    def forward(self, x):
        gx = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        nx = gx / (gx.mean(dim=-1, keepdim=True) + 1e-6)
        return self.gamma * (x * nx) + self.beta + x


class Block(nn.Module):
    """facebookresearch/ConvNeXt-V2, channels last inside"""

    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.grn = GRN(4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)

    def forward(self, x):
        inp = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.pwconv2(self.grn(self.act(self.pwconv1(self.norm(x)))))
        return inp + x.permute(0, 3, 1, 2)


class ConvBlock(nn.Module):
    """timm's conv_mlp=True: everything stays N C H W"""

    def __init__(self, dim):
        super().__init__()
        self.conv_dw = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm_w = nn.Parameter(torch.empty(dim))
        self.norm_b = nn.Parameter(torch.empty(dim))
        self.fc1 = nn.Conv2d(dim, 4 * dim, 1)
        self.grn_w = nn.Parameter(torch.empty(4 * dim))
        self.grn_b = nn.Parameter(torch.empty(4 * dim))
        self.fc2 = nn.Conv2d(4 * dim, dim, 1)

    @torch.no_grad()
    def take(self, block):
        self.conv_dw.load_state_dict(block.dwconv.state_dict())
        self.norm_w.copy_(block.norm.weight)
        self.norm_b.copy_(block.norm.bias)
        for mine, theirs in ((self.fc1, block.pwconv1), (self.fc2, block.pwconv2)):
            mine.weight.copy_(theirs.weight[:, :, None, None])
            mine.bias.copy_(theirs.bias)
        self.grn_w.copy_(block.grn.gamma.flatten())
        self.grn_b.copy_(block.grn.beta.flatten())
        return self

    def forward(self, x):
        y = self.conv_dw(x)
        var, mean = torch.var_mean(y, dim=1, keepdim=True, unbiased=False)
        y = (y - mean) / torch.sqrt(var + 1e-6)
        y = y * self.norm_w[:, None, None] + self.norm_b[:, None, None]
        y = self.fc1(y)
        y = 0.5 * y * (1 + torch.erf(y / 2 ** 0.5))
        g = y.square().sum((2, 3), keepdim=True).sqrt()
        g = g / (g.mean(1, keepdim=True) + 1e-6)
        y = y + self.grn_b.view(1, -1, 1, 1) + self.grn_w.view(1, -1, 1, 1) * (y * g)
        return torch.add(x, self.fc2(y))


torch.manual_seed(2301)
left = Block(3)
nn.init.normal_(left.norm.weight)
nn.init.normal_(left.norm.bias)
right = ConvBlock(3).take(left)
inputs = (torch.randn(2, 3, 8, 9),)
