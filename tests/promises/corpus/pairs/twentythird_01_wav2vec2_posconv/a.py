"""Positional convolution of wav2vec 2.0 as Transformers builds it: grouped, weight-normalised over its taps."""
import torch
from torch import nn
from torch.nn.utils import parametrizations

HIDDEN, KERNEL, GROUPS = 12, 4, 3


class SamePad(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.remove = 1 if kernel % 2 == 0 else 0

    def forward(self, x):
        return x[:, :, : -self.remove] if self.remove else x


class PositionalConv(nn.Module):
    def __init__(self):
        super().__init__()
        conv = nn.Conv1d(HIDDEN, HIDDEN, KERNEL, padding=KERNEL // 2, groups=GROUPS)
        self.conv = parametrizations.weight_norm(conv, name="weight", dim=2)
        nn.init.uniform_(self.conv.parametrizations.weight.original0, 0.5, 1.5)
        self.padding = SamePad(KERNEL)
        self.layer_norm = nn.LayerNorm(HIDDEN)
        nn.init.normal_(self.layer_norm.weight)
        nn.init.normal_(self.layer_norm.bias)

    def forward(self, hidden):
        position = self.conv(hidden.transpose(1, 2))
        position = nn.functional.gelu(self.padding(position)).transpose(1, 2)
        return self.layer_norm(hidden + position)


def inputs():
    return (torch.randn(2, 7, HIDDEN),)
