import torch
from torch.nn import functional as F


def bpr_loss(user, pos, neg, decay=1e-3):
    pos_scores = torch.mul(user, pos).sum(dim=1)
    neg_scores = torch.mul(user, neg).sum(dim=1)
    loss = -F.logsigmoid(pos_scores - neg_scores).mean()
    reg = (user.norm(p=2) ** 2 + pos.norm(p=2) ** 2 + neg.norm(p=2) ** 2) / 2
    return loss + decay * reg / user.shape[0]


def inputs():
    return torch.randn(6, 8), torch.randn(6, 8), torch.randn(6, 8)
