# DIFFERENT: Sampler: repetition penalty and top-p; the port forgets to shift the removal mask and so drops the token that crosses p
import torch

P, PENALTY, TEMP = 0.8, 1.2, 0.7


def left(logits, input_ids):
    score = torch.gather(logits, 1, input_ids)
    score = torch.where(score < 0, score * PENALTY, score / PENALTY)
    logits = logits.scatter(1, input_ids, score) / TEMP
    sorted_logits, idx = torch.sort(logits, descending=True)
    cum = sorted_logits.softmax(-1).cumsum(-1)
    remove = cum > P
    remove = torch.cat([torch.zeros_like(remove[:, :1]), remove[:, :-1]], 1)
    remove = remove.scatter(1, idx, remove)
    return logits.masked_fill(remove, float("-inf")).softmax(-1)


def right(logits, input_ids):
    seen = torch.zeros_like(logits).scatter(1, input_ids, 1.0) > 0
    pen = torch.where(logits > 0, logits / PENALTY, logits * PENALTY)
    logits = torch.where(seen, pen, logits) / TEMP
    probs = torch.softmax(logits, -1)
    sp, idx = probs.sort(dim=-1, descending=True)
    keep = sp.cumsum(-1) <= P
    keep[:, 0] = True
    sp = sp * keep
    sp = sp / sp.sum(-1, keepdim=True)
    return torch.zeros_like(probs).scatter(1, idx, sp)


def inputs():
    return torch.randn(3, 12) * 2, torch.randint(0, 12, (3, 4))
