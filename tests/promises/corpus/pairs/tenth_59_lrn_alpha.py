# DIFFERENT
# AlexNet's first stage: tf.nn.local_response_normalization against torch's (which divides alpha by the size)
import torch
from torch import nn
import torch.nn.functional as F

RADIUS, ALPHA, BETA, BIAS = 2, 0.02, 0.75, 1.0


class TFStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        channels = y.shape[1]
        sq = y * y
        sums = []
        for c in range(channels):
            lo, hi = max(0, c - RADIUS), min(channels, c + RADIUS + 1)
            sums.append(sq[:, lo:hi].sum(1))
        sqr_sum = torch.stack(sums, dim=1)
        y = y / (BIAS + ALPHA * sqr_sum) ** BETA
        return F.max_pool2d(y, 3, stride=2)


class TorchStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.ReLU(),
            nn.LocalResponseNorm(2 * RADIUS + 1, alpha=ALPHA, beta=BETA, k=BIAS),
            nn.MaxPool2d(3, 2),
        )

    def forward(self, x):
        return self.features(x)


left, right = TFStage, TorchStage


def inputs():
    return (2 * torch.randn(2, 3, 7, 9),)
