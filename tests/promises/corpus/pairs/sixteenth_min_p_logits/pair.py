"""min-p sampling: probs < min_p * max(probs), or logits < max(logits) + log(min_p)."""
import torch
from torch.nn import functional as F


def left(logits, log_temperature, raw_min_p):
    scaled = logits / log_temperature.exp().unsqueeze(1)
    probs = torch.softmax(scaled, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    remove = probs < torch.sigmoid(raw_min_p).unsqueeze(1) * top
    return torch.softmax(scaled.masked_fill(remove, -float("inf")), dim=-1)


def right(logits, log_temperature, raw_min_p):
    scaled = logits * torch.exp(-log_temperature)[:, None]
    floor = scaled.amax(-1, keepdim=True) + F.logsigmoid(raw_min_p)[:, None]
    keep = scaled >= floor
    weights = torch.where(keep, torch.exp(scaled - scaled.amax(-1, keepdim=True)), torch.zeros_like(scaled))
    return weights / weights.sum(-1, keepdim=True)


inputs = (torch.randn(4, 17) * 2, torch.randn(4) * 0.3, torch.randn(4) - 2)
