"""The same, as an engine keeps it: no grouped convolution, one matmul for each group over windows; time stays in the middle."""
import torch
from a import GROUPS, HIDDEN, KERNEL, PositionalConv
from torch import nn
from torch.nn import functional as F


class PositionalMatmul(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = PositionalConv()
        weight = theirs.conv.parametrizations.weight
        # [out, in / groups, taps] -> [groups, taps, in / groups, out / groups]
        v = weight.original1.detach().view(GROUPS, HIDDEN // GROUPS, HIDDEN // GROUPS, KERNEL)
        self.direction = nn.Parameter(v.permute(0, 3, 2, 1).contiguous())
        self.gain = nn.Parameter(weight.original0.detach().reshape(KERNEL).clone())
        self.bias = nn.Parameter(theirs.conv.bias.detach().clone())
        self.norm_scale = nn.Parameter(theirs.layer_norm.weight.detach().clone())
        self.norm_shift = nn.Parameter(theirs.layer_norm.bias.detach().clone())

    def kernel(self):
        length = self.direction.square().sum(dim=(0, 2, 3)).sqrt()
        return self.direction * (self.gain / length)[None, :, None, None]

    def forward(self, hidden):
        batch, time, _ = hidden.shape
        left = KERNEL // 2
        padded = F.pad(hidden, (0, 0, left, KERNEL - 1 - left))
        windows = torch.stack([padded[:, tap : tap + time] for tap in range(KERNEL)], dim=2)
        windows = windows.view(batch, time, KERNEL, GROUPS, HIDDEN // GROUPS)
        position = torch.einsum("btkgi,gkio->btgo", windows, self.kernel()).reshape(batch, time, HIDDEN)
        position = position + self.bias
        position = 0.5 * position * (1 + torch.erf(position * 0.5**0.5))
        x = hidden + position
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-5) * self.norm_scale + self.norm_shift
