import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=8, hidden=16, kernel=5):
        super().__init__()
        theirs = Left(dim, hidden, kernel)
        self.kernel = kernel
        self.ff_norm, self.conv_norm, self.bn = theirs.ff_norm, theirs.conv_norm, theirs.bn
        self.up, self.down = theirs.ff[0], theirs.ff[2]
        value, gate = theirs.pointwise1.weight.detach()[:, :, 0].chunk(2)
        self.value, self.gate = nn.Parameter(value.clone()), nn.Parameter(gate.clone())
        value, gate = theirs.pointwise1.bias.detach().chunk(2)
        self.value_bias, self.gate_bias = nn.Parameter(value.clone()), nn.Parameter(gate.clone())
        self.taps = nn.Parameter(theirs.depthwise.weight.detach()[:, 0].T.contiguous())
        self.tap_bias = theirs.depthwise.bias
        self.out, self.out_bias = nn.Parameter(theirs.pointwise2.weight.detach()[:, :, 0]), theirs.pointwise2.bias
        self.eval()

    def forward(self, x):
        t = x.shape[1]
        h = self.up(self.ff_norm(x))
        x = x + self.down(h * torch.sigmoid(h)) / 2
        y = self.conv_norm(x)
        y = F.linear(y, self.value, self.value_bias) * torch.sigmoid(F.linear(y, self.gate, self.gate_bias))
        padded = F.pad(y, (0, 0, self.kernel // 2, self.kernel // 2))
        y = sum(self.taps[i] * padded[:, i : i + t] for i in range(self.kernel)) + self.tap_bias
        scale = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        y = (y - self.bn.running_mean) * scale + self.bn.bias
        return x + F.linear(F.silu(y), self.out, self.out_bias)


def inputs():
    return (torch.randn(2, 6, 8),)
