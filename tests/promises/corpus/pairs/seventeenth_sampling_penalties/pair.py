"""Logits processors: the chain of Transformers, and the batched sampler of our engine."""
import torch
from torch.nn import functional as F

REPETITION, FREQUENCY, PRESENCE, TEMPERATURE, TOP_K = 1.3, 0.4, 0.2, 0.7, 6
B, VOCAB, P, O = 3, 24, 5, 4


def left(logits, prompt_ids, output_ids):
    input_ids = torch.cat([prompt_ids, output_ids], dim=1)
    score = torch.gather(logits, 1, input_ids)
    score = torch.where(score < 0, score * REPETITION, score / REPETITION)
    scores = logits.scatter(1, input_ids, score)

    counts = F.one_hot(output_ids, VOCAB).sum(dim=1)
    scores = scores - FREQUENCY * counts - PRESENCE * (counts > 0).to(scores.dtype)

    scores = scores / TEMPERATURE
    indices_to_remove = scores < torch.topk(scores, TOP_K)[0][..., -1, None]
    scores = scores.masked_fill(indices_to_remove, -float("inf"))
    return F.softmax(scores, dim=-1)


def bin_counts(tokens, n, vocab):
    counts = torch.zeros(n, vocab + 1, dtype=torch.long)
    counts.scatter_add_(1, tokens, torch.ones_like(tokens))
    counts = counts[:, :vocab]
    return counts, counts > 0


def right(logits, prompt_ids, output_ids):
    n, vocab = logits.shape
    _, in_prompt = bin_counts(prompt_ids, n, vocab)
    counts, in_output = bin_counts(output_ids, n, vocab)
    factor = torch.where(in_prompt | in_output, REPETITION, 1.0)
    logits = torch.where(logits > 0, logits / factor, logits * factor)
    logits = logits - FREQUENCY * counts
    logits = logits - PRESENCE * in_output
    logits = logits.div(TEMPERATURE)
    threshold = logits.sort(dim=-1, descending=True).values[:, TOP_K - 1 : TOP_K]
    weights = torch.exp(logits - logits.amax(-1, keepdim=True)) * (logits >= threshold)
    return weights / weights.sum(-1, keepdim=True)


def inputs():
    return 3 * torch.randn(B, VOCAB), torch.randint(0, VOCAB, (B, P)), torch.randint(0, VOCAB, (B, O))
