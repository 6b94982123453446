"""ConvNeXt for a backend that has only convolutions: channels first throughout, linears as 1 x 1 convolutions."""
import torch
from a import DIM, Stage
from torch import nn
from torch.nn import functional as F


class ChannelsFirstNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1, dim, 1, 1))
        self.shift = nn.Parameter(torch.zeros(1, dim, 1, 1))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x * x).mean(1, keepdim=True) - mean * mean
        return (x - mean) * torch.rsqrt(variance + 1e-6) * self.scale + self.shift


class ConvBlock(nn.Module):
    def __init__(self, block, dim=DIM):
        super().__init__()
        self.depthwise = nn.Conv2d(dim, dim, 7, groups=dim)
        self.norm = ChannelsFirstNorm(dim)
        self.expand = nn.Conv2d(dim, 4 * dim, 1)
        self.reduce = nn.Conv2d(4 * dim, dim, 1)
        self.layer_scale = nn.Parameter(block.gamma.detach().clone().view(1, dim, 1, 1))
        with torch.no_grad():
            self.depthwise.weight.copy_(block.dwconv.weight)
            self.depthwise.bias.copy_(block.dwconv.bias)
            self.norm.scale.copy_(block.norm.weight.view(1, dim, 1, 1))
            self.norm.shift.copy_(block.norm.bias.view(1, dim, 1, 1))
            self.expand.weight.copy_(block.pwconv1.weight[:, :, None, None])
            self.expand.bias.copy_(block.pwconv1.bias)
            self.reduce.weight.copy_(block.pwconv2.weight[:, :, None, None])
            self.reduce.bias.copy_(block.pwconv2.bias)

    def forward(self, x):
        y = self.norm(self.depthwise(F.pad(x, (3, 3, 3, 3))))
        y = self.expand(y)
        y = y * 0.5 * (1.0 + torch.erf(y / 2**0.5))
        return torch.addcmul(x, self.reduce(y), self.layer_scale)


class ConvStage(nn.Sequential):
    def __init__(self):
        super().__init__(*[ConvBlock(block) for block in Stage().blocks])
