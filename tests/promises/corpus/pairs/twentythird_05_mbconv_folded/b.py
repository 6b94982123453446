"""The same for deployment: batch norms folded into the convolutions before them, pointwise ones as matmuls, NHWC between."""
import torch
from a import EXPANDED, MBConv
from torch import nn
from torch.nn import functional as F


def folded(sequence):
    conv, norm = sequence
    factor = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
    weight = conv.weight.detach() * factor[:, None, None, None]
    return weight, norm.bias.detach() - norm.running_mean * factor


class Deployed(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = MBConv()
        weight, bias = folded(theirs.expand)
        self.expand = nn.Parameter(weight[:, :, 0, 0].t().contiguous())
        self.expand_bias = nn.Parameter(bias)
        weight, bias = folded(theirs.depthwise)
        self.depthwise, self.depthwise_bias = nn.Parameter(weight), nn.Parameter(bias)
        weight, bias = folded(theirs.project)
        self.project = nn.Parameter(weight[:, :, 0, 0].t().contiguous())
        self.project_bias = nn.Parameter(bias)
        self.fc1 = nn.Linear(*reversed(theirs.se.reduce.weight.shape[:2]))
        self.fc2 = nn.Linear(*reversed(theirs.se.expand.weight.shape[:2]))
        for linear, conv in ((self.fc1, theirs.se.reduce), (self.fc2, theirs.se.expand)):
            linear.weight.data = conv.weight.detach().flatten(1).clone()
            linear.bias.data = conv.bias.detach().clone()

    def forward(self, x):
        pixels = x.permute(0, 2, 3, 1)
        y = F.silu(pixels @ self.expand + self.expand_bias)
        y = F.conv2d(y.permute(0, 3, 1, 2), self.depthwise, self.depthwise_bias, padding=1, groups=EXPANDED)
        y = y * torch.sigmoid(y)
        squeezed = self.fc1(y.mean(dim=(2, 3)))
        gate = self.fc2(squeezed / (1 + torch.exp(-squeezed))).sigmoid()
        # the gate scales channels, so it may scale the rows of the projection
        out = y.permute(0, 2, 3, 1).flatten(1, 2) @ (gate[:, :, None] * self.project) + self.project_bias
        return x + out.unflatten(1, x.shape[2:]).permute(0, 3, 1, 2)
