"""The encoder for streaming: running sums of frames and of their squares, so that nothing has to be kept."""

import torch
from torch import nn


class StreamingXVector(nn.Module):
    def __init__(self, mels=8, hidden=10, embed=6):
        super().__init__()
        self.tdnn1 = nn.Conv1d(mels, hidden, 3)
        self.tdnn2 = nn.Conv1d(hidden, hidden, 3, dilation=2)
        self.tdnn3 = nn.Conv1d(hidden, 12, 1)
        self.segment6 = nn.Linear(24, embed)
        self.segment7 = nn.Linear(embed, embed)

    @staticmethod
    def taps(x, conv):
        """A dilated convolution over [B, T, C] as a sum of matmuls, one for each tap."""
        d, k = conv.dilation[0], conv.kernel_size[0]
        T = x.shape[1] - d * (k - 1)
        return sum(x[:, i * d : i * d + T] @ conv.weight[:, :, i].t() for i in range(k)) + conv.bias

    def forward(self, features):
        h = self.taps(features, self.tdnn1).relu()
        h = self.taps(h, self.tdnn2).relu()
        h = h @ self.tdnn3.weight[:, :, 0].t() + self.tdnn3.bias
        count = h.shape[1]
        first, second = h.sum(1), h.square().sum(1)
        mean = first / count
        deviation = (second / count - mean * mean).sqrt()
        stats = torch.cat([mean, deviation], -1)
        e = self.segment7(self.segment6(stats).relu())
        return e / torch.linalg.vector_norm(e, dim=-1, keepdim=True).clamp_min(1e-12)
