"""The stage for inference: weights are g · v / ‖v‖, with one norm for each output channel, worked out on the way."""

import torch
from a import Stage
from torch import nn
from torch.nn import functional as F


class Normalised(nn.Module):
    def __init__(self, conv, transposed=False):
        super().__init__()
        made = conv.parametrizations.weight
        self.weight_g = nn.Parameter(made.original0.detach().clone())
        self.weight_v = nn.Parameter(made.original1.detach().clone())
        self.bias = conv.bias
        self.stride, self.padding, self.dilation = conv.stride, conv.padding, conv.dilation
        self.transposed = transposed

    def weight(self):
        v = self.weight_v
        over = (0, 2) if self.transposed else (1, 2)                    # output channels: dim 1 if transposed, else 0
        return self.weight_g * v / v.pow(2).sum(over, keepdim=True).sqrt()

    def forward(self, x):
        if self.transposed:
            return F.conv_transpose1d(x, self.weight(), self.bias, self.stride, self.padding)
        return F.conv1d(x, self.weight(), self.bias, self.stride, self.padding, self.dilation)


class ExportedStage(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Stage()
        self.up = Normalised(theirs.up, transposed=True)
        self.first = nn.ModuleList(Normalised(c) for c in theirs.convs1)
        self.second = nn.ModuleList(Normalised(c) for c in theirs.convs2)
        self.post = Normalised(theirs.conv_post)

    @staticmethod
    def lrelu(x, slope=0.1):
        return torch.where(x >= 0, x, slope * x)

    def forward(self, mel):
        x = self.up(self.lrelu(mel))
        for c1, c2 in zip(self.first, self.second):
            x = c2(self.lrelu(c1(self.lrelu(x)))) + x
        return self.post(self.lrelu(x, 0.01)).tanh()
