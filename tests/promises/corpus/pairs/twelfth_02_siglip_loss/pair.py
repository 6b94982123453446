"""SigLIP: pairwise sigmoid loss of images and texts."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
log_temperature = nn.Parameter(torch.tensor(1.3))
bias = nn.Parameter(torch.tensor(-2.0))


def left(image, text):
    """As in the appendix of the paper."""
    n = image.shape[0]
    zimg = F.normalize(image, dim=-1)
    ztxt = F.normalize(text, dim=-1)
    logits = zimg @ ztxt.T * log_temperature.exp() + bias
    labels = 2 * torch.eye(n, dtype=logits.dtype) - torch.ones(n, n, dtype=logits.dtype)
    return -F.logsigmoid(labels * logits).sum() / n


def right(image, text):
    zimg = image / image.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    ztxt = text / text.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    logits = torch.einsum("id,jd->ij", zimg, ztxt) * torch.exp(log_temperature) + bias
    target = torch.eye(len(logits), dtype=logits.dtype)
    per_pair = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return per_pair.sum(dim=1).mean()


def inputs():
    return torch.randn(5, 8), torch.randn(5, 8)
