import torch
from torch.nn import functional as F

EPS = 0.1


def left(logits, target):
    return F.cross_entropy(logits, target, label_smoothing=EPS)


def label_smoothed_nll_loss(lprobs, target, epsilon):
    nll_loss = -lprobs.gather(dim=-1, index=target.unsqueeze(-1)).squeeze(-1)
    smooth_loss = -lprobs.sum(dim=-1)
    eps_i = epsilon / lprobs.size(-1)
    return (1.0 - epsilon) * nll_loss + eps_i * smooth_loss


def right(logits, target):
    lprobs = F.log_softmax(logits, dim=-1)
    return label_smoothed_nll_loss(lprobs, target, EPS).mean()


inputs = (torch.randn(6, 8), torch.randint(0, 8, (6,)))
