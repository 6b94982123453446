import torch
from torch.nn import functional as F

PENALTY, TEMPERATURE = 1.25, 0.8


def transformers_style(logits, input_ids):
    """Gather the scores of seen tokens, penalise, scatter back."""
    score = torch.gather(logits, 1, input_ids)
    score = torch.where(score < 0, score * PENALTY, score / PENALTY)
    logits = logits.scatter(1, input_ids, score)
    return F.softmax(logits / TEMPERATURE, dim=-1)


def vllm_style(logits, input_ids):
    """Count tokens over the vocabulary, and give each entry its factor."""
    batch, vocab = logits.shape
    counts = torch.zeros(batch, vocab, dtype=torch.long)
    counts.scatter_add_(1, input_ids, torch.ones_like(input_ids))
    seen = counts > 0
    penalties = torch.where(seen, PENALTY, 1.0)
    factor = torch.where(logits > 0, 1.0 / penalties, penalties)
    scaled = logits * factor / TEMPERATURE
    log_z = scaled.logsumexp(dim=-1, keepdim=True)
    return torch.exp(scaled - log_z)


def example(B=3, V=9, T=5):
    return torch.randn(B, V), torch.randint(0, V, (B, T))


def inputs():
    return example()
