# EQUAL
import torch
import torch.nn.functional as F


def left(logits, target):
    b, c = logits.shape[:2]
    p = logits.softmax(1).reshape(b, c, -1)
    t = F.one_hot(target, c).permute(0, 3, 1, 2).reshape(b, c, -1).to(p.dtype)
    inter = (p * t).sum(-1)
    card = p.sum(-1) + t.sum(-1)
    return (1 - (2 * inter + 1.0) / (card + 1.0)).mean()


def right(logits, target):
    prob = torch.softmax(logits, dim=1)
    onehot = F.one_hot(target, logits.shape[1]).to(prob.dtype)          # b h w c
    num = torch.einsum("bchw,bhwc->bc", prob, onehot)
    den = torch.einsum("bchw->bc", prob) + torch.einsum("bhwc->bc", onehot)
    score = (num + num + 1.0) / (den + 1.0)
    return 1 - score.mean()


def inputs():
    torch.manual_seed(8)
    return torch.randn(2, 4, 5, 6), torch.randint(0, 4, (2, 5, 6))
