import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=12, patch=2, channels=3, classes=5):
        super().__init__()
        theirs = Left(dim, patch, channels, classes)
        self.patch, self.channels = patch, channels
        self.class_embedding = theirs.y_embedder
        self.time_in, self.time_out = theirs.t_embedder[0], theirs.t_embedder[2]
        self.modulation, self.proj_out = theirs.adaLN_modulation[1], theirs.linear

    def forward(self, hidden, time, label):
        b, h, w, d = hidden.shape
        condition = self.time_out(F.silu(self.time_in(time))) + self.class_embedding(label)
        scale, shift = self.modulation(F.silu(condition))[:, None, None, :].split(d, dim=-1)
        hidden = F.layer_norm(hidden, (d,), eps=1e-6) * (1 + scale) + shift
        pixels = self.proj_out(hidden).view(b, h, w, self.patch, self.patch, self.channels)
        return pixels.permute(0, 5, 1, 3, 2, 4).reshape(b, self.channels, h * self.patch, w * self.patch)


def inputs():
    return torch.randn(2, 3, 4, 12), torch.randn(2, 6), torch.tensor([1, 4])
