import math

import torch
from torch import nn

from left import Left


class Right(nn.Module):
    def __init__(self, dim=6, classes=5, s=16.0, m=0.4):
        super().__init__()
        self.weight = Left(dim, classes).weight
        self.s, self.m = s, m

    def forward(self, embeddings, labels):
        unit = embeddings / embeddings.norm(dim=1, keepdim=True).clamp_min(1e-12)
        centres = self.weight / self.weight.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosine = unit @ centres.t()
        target = cosine.gather(1, labels[:, None])
        theta = torch.acos(target)
        with_margin = torch.where(
            theta < math.pi - self.m, torch.cos(theta + self.m), target - self.m * math.sin(self.m)
        )
        logits = self.s * cosine.scatter(1, labels[:, None], with_margin)
        return (logits.logsumexp(1) - logits.gather(1, labels[:, None]).squeeze(1)).mean()


def inputs():
    return torch.randn(7, 6), torch.tensor([0, 3, 1, 4, 2, 2, 0])
