# EQUAL
"""Sampling head: the logits processors of Transformers one after the other (penalty, temperature, min-p, top-k), and ours at once."""
import math

import torch

PENALTY, TEMPERATURE, MIN_P, TOP_K = 1.3, 0.7, 0.05, 8


def repetition_penalty(input_ids, scores):
    score = torch.gather(scores, 1, input_ids)
    score = torch.where(score < 0, score * PENALTY, score / PENALTY)
    return scores.scatter(1, input_ids, score)


def min_p(scores):
    probs = torch.softmax(scores, dim=-1)
    top_probs, _ = probs.max(dim=-1, keepdim=True)
    return scores.masked_fill(probs < MIN_P * top_probs, -float("inf"))


def top_k(scores):
    indices_to_remove = scores < torch.topk(scores, TOP_K)[0][..., -1, None]
    return scores.masked_fill(indices_to_remove, -float("inf"))


def left(input_ids, logits):
    scores = repetition_penalty(input_ids, logits)
    scores = scores / TEMPERATURE
    scores = top_k(scores)
    scores = min_p(scores)
    return scores.softmax(-1)


def right(input_ids, logits):
    vocab = logits.shape[-1]
    seen = (input_ids.unsqueeze(-1) == torch.arange(vocab)).any(1)
    penalised = torch.where(logits > 0, logits / PENALTY, logits * PENALTY)
    z = torch.where(seen, penalised, logits) / TEMPERATURE
    ordered = z.sort(dim=-1, descending=True).values
    floor = torch.maximum(ordered[:, TOP_K - 1], ordered[:, 0] + math.log(MIN_P))
    p = torch.exp(z - ordered[:, :1]) * (z >= floor[:, None])
    return p / p.sum(-1, keepdim=True)


def inputs():
    return torch.randint(0, 24, (2, 5)), torch.randn(2, 24) * 2
