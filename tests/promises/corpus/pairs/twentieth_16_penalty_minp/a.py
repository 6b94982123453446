"""Logit processing as in Transformers: repetition penalty, frequency penalty, temperature, min-p."""
import torch

REPEAT, FREQUENCY, TEMPERATURE, MIN_P = 1.3, 0.2, 0.7, 0.1


def processors(logits, history):
    """logits [B, V], history [B, T] token ids."""
    score = torch.gather(logits, 1, history)
    score = torch.where(score < 0, score * REPEAT, score / REPEAT)
    logits = logits.scatter(1, history, score)
    counts = torch.zeros_like(logits).scatter_add_(1, history, torch.ones_like(history, dtype=logits.dtype))
    logits = logits - FREQUENCY * counts
    logits = logits / TEMPERATURE
    probs = torch.softmax(logits, dim=-1)
    top, _ = probs.max(dim=-1, keepdim=True)
    remove = probs < MIN_P * top
    logits = logits.masked_fill(remove, float("-inf"))
    return torch.softmax(logits, dim=-1)


def inputs():
    return 3 * torch.randn(2, 11), torch.randint(0, 11, (2, 6))
