"""A WaveNet stack over a whole utterance: causal dilated convolutions, gates, residuals and skips."""

import torch
from torch import nn
from torch.nn import functional as F


class WaveNetBlock(nn.Module):
    def __init__(self, channels, skip, dilation, kernel=2):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.dilated = nn.Conv1d(channels, 2 * channels, kernel, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip, 1)

    def forward(self, x):
        h = self.dilated(F.pad(x, (self.pad, 0)))
        filters, gates = h.chunk(2, dim=1)
        z = torch.tanh(filters) * torch.sigmoid(gates)
        return x + self.residual(z), self.skip(z)


class WaveNet(nn.Module):
    def __init__(self, inputs=3, channels=4, skip=5, classes=6, dilations=(1, 2, 4)):
        super().__init__()
        self.entry = nn.Conv1d(inputs, channels, 1)
        self.blocks = nn.ModuleList(WaveNetBlock(channels, skip, d) for d in dilations)
        self.out1 = nn.Conv1d(skip, skip, 1)
        self.out2 = nn.Conv1d(skip, classes, 1)

    def forward(self, x):
        """x [B, T, inputs] → [B, T, classes]."""
        h = self.entry(x.transpose(1, 2))
        total = 0
        for block in self.blocks:
            h, skip = block(h)
            total = total + skip
        y = self.out2(F.relu(self.out1(F.relu(total))))
        return F.log_softmax(y.transpose(1, 2), dim=-1)


def inputs():
    return (torch.randn(2, 7, 3),)
