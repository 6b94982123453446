# EQUAL: Grouped dilated strided conv2d vs F.unfold (im2col), per-group matmul and fold to the output map
import torch
from torch import nn
import torch.nn.functional as F

CI, CO, G, K, S, P, DIL = 4, 6, 2, 3, 2, 2, 2


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(CI, CO, K, stride=S, padding=P, dilation=DIL, groups=G)

    def forward(self, x):
        return F.leaky_relu(self.conv(x), 0.1)


class Im2col(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.w = nn.Parameter(conv.weight.detach().reshape(G, CO // G, -1).clone())
        self.b = nn.Parameter(conv.bias.detach().clone())

    def forward(self, x):
        n, _, h, w = x.shape
        ho = (h + 2 * P - DIL * (K - 1) - 1) // S + 1
        wo = (w + 2 * P - DIL * (K - 1) - 1) // S + 1
        cols = F.unfold(x, K, dilation=DIL, padding=P, stride=S)
        cols = cols.view(n, G, CI // G * K * K, ho * wo)
        y = torch.einsum("gok,ngkl->ngol", self.w, cols).reshape(n, CO, ho, wo)
        y = y + self.b.view(1, -1, 1, 1)
        return torch.where(y > 0, y, 0.1 * y)


left = Conv()
right = Im2col(left.conv)


def inputs():
    return (torch.randn(2, CI, 7, 6),)
