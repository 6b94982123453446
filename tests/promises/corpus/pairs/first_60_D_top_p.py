# DIFFERENT. top-p that keeps cum <= p (drops the token that crosses the threshold) vs one that keeps it
import torch

P = 0.8


def left(scores):
    s, idx = torch.sort(scores, descending=True)
    cum = torch.cumsum(s.softmax(-1), -1)
    remove = cum > P
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return scores.masked_fill(remove.scatter(1, idx, remove), float("-inf"))


def right(scores):
    s, idx = torch.sort(scores, dim=-1, descending=True)
    remove = s.softmax(-1).cumsum(-1) > P
    remove[:, 0] = False
    mask = torch.zeros_like(remove).scatter_(1, idx, remove)
    return scores.masked_fill(mask, float("-inf"))


torch.manual_seed(0)
inputs = (torch.randn(3, 6),)
