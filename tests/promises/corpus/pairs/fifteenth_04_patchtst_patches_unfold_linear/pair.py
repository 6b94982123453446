"""PatchTST: patches by unfold and a linear, and by a strided convolution."""
import torch
from torch import nn
from torch.nn import functional as F

LENGTH, PATCH, STRIDE, WIDTH, HORIZON = 20, 8, 4, 12, 5
COUNT = (LENGTH - PATCH) // STRIDE + 2


class Unfolded(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(PATCH, WIDTH)
        self.position = nn.Parameter(torch.randn(COUNT, WIDTH) * 0.1)
        self.head = nn.Linear(COUNT * WIDTH, HORIZON)

    def forward(self, series):
        x = series.transpose(1, 2)
        x = F.pad(x, (0, STRIDE), mode="replicate")
        patches = x.unfold(-1, PATCH, STRIDE)
        tokens = F.gelu(self.embed(patches) + self.position)
        return self.head(tokens.flatten(-2)).transpose(1, 2)


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        base = Unfolded()
        self.kernel = nn.Parameter(base.embed.weight.detach().unsqueeze(1).clone())
        self.bias = base.embed.bias
        self.position = nn.Parameter(base.position.detach().t().contiguous())
        self.out = nn.Parameter(base.head.weight.detach().view(HORIZON, COUNT, WIDTH).permute(2, 1, 0).contiguous())
        self.out_bias = base.head.bias

    def forward(self, series):
        b, t, c = series.shape
        x = torch.cat([series, series[:, -1:].expand(-1, STRIDE, -1)], dim=1)
        x = x.permute(0, 2, 1).reshape(b * c, 1, t + STRIDE)
        tokens = F.gelu(F.conv1d(x, self.kernel, self.bias, stride=STRIDE) + self.position)
        y = torch.einsum("nwp,wph->nh", tokens, self.out) + self.out_bias
        return y.view(b, c, HORIZON).permute(0, 2, 1)


def left():
    return Unfolded()


def right():
    return Convolved()


def inputs():
    return (torch.randn(2, LENGTH, 3),)
