import torch
from torch.nn import functional as F

GAMMA = 2


def by_log_probabilities(logits, target, alpha):
    logp = F.log_softmax(logits, dim=1)
    logpt = logp.gather(1, target.unsqueeze(1)).squeeze(1)
    pt = logpt.exp()
    at = alpha[target]
    loss = -at * (1 - pt) ** GAMMA * logpt
    return loss.mean()


def by_one_hot(logits, target, alpha):
    classes = logits.shape[1]
    y = F.one_hot(target, classes).to(logits.dtype).movedim(-1, 1)
    p = torch.softmax(logits, dim=1)
    weight = alpha.reshape(1, -1, *[1] * (logits.ndim - 2)) * y
    cross_entropy = -weight * torch.log(p)
    modulated = cross_entropy * (1 - p).square()
    return modulated.sum() / target.numel()


def example(B=2, C=5, H=3, W=4):
    return torch.randn(B, C, H, W), torch.randint(0, C, (B, H, W)), torch.rand(C)


def inputs():
    return example()
