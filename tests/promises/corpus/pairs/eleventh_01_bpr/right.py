import torch
from torch.nn import functional as F


def bpr_loss(user, pos, neg, decay=1e-3):
    margin = ((neg - pos) * user).sum(-1)
    reg = 0.5 * torch.stack([user, pos, neg]).square().sum(dim=(0, 2)).mean()
    return F.softplus(margin).mean() + decay * reg


def inputs():
    return torch.randn(6, 8), torch.randn(6, 8), torch.randn(6, 8)
