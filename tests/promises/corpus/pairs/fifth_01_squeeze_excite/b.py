import torch
from torch import nn
from torch.nn import functional as F

from a import program as original


class SE(nn.Module):
    """Squeeze and excitation on plain matrices."""

    def __init__(self, se):
        super().__init__()
        self.down = nn.Parameter(se.fc1.weight.detach()[:, :, 0, 0].clone())
        self.down_bias = nn.Parameter(se.fc1.bias.detach().clone())
        self.up = nn.Parameter(se.fc2.weight.detach()[:, :, 0, 0].clone())
        self.up_bias = nn.Parameter(se.fc2.bias.detach().clone())

    def forward(self, x):
        squeezed = x.mean(dim=(2, 3))
        h = F.linear(squeezed, self.down, self.down_bias)
        h = h / (1 + torch.exp(-h))
        scale = torch.sigmoid(h @ self.up.t() + self.up_bias)
        return torch.einsum("bchw,bc->bchw", x, scale)


program = SE(original).eval()
