# EQUAL
import math
import torch
from torch import nn
import torch.nn.functional as F

S, M = 16.0, 0.3


class ArcFaceAcos(nn.Module):
    """Adds the margin to the angle itself."""
    def __init__(self, dim=6, classes=5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim))

    def forward(self, features, labels):
        cosine = F.linear(F.normalize(features), F.normalize(self.weight))
        theta = torch.acos(cosine)
        one_hot = F.one_hot(labels, cosine.size(1)).to(cosine.dtype)
        logits = S * torch.cos(theta + M * one_hot)
        return F.cross_entropy(logits, labels)


class ArcFaceTrig(ArcFaceAcos):
    """cos(theta + m) = cos theta cos m - sin theta sin m, with sin theta >= 0."""
    def forward(self, features, labels):
        f = features / torch.linalg.vector_norm(features, dim=1, keepdim=True).clamp_min(1e-12)
        w = self.weight / torch.linalg.vector_norm(self.weight, dim=1, keepdim=True).clamp_min(1e-12)
        cosine = f @ w.T
        sine = torch.sqrt(1.0 - cosine.pow(2))
        phi = cosine * math.cos(M) - sine * math.sin(M)
        target = torch.arange(cosine.size(1))[None, :] == labels[:, None]
        return F.cross_entropy(torch.where(target, phi, cosine) * S, labels)


left, right = ArcFaceAcos, ArcFaceTrig


def inputs():
    return torch.randn(4, 6), torch.tensor([1, 4, 0, 2])
