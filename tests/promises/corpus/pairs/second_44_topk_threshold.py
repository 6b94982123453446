# DIFFERENT.
"""Top-k filtering of logits before sampling. DIFFERENT on ties only: by threshold (HF's TopKLogitsWarper keeps all that equal
the k-th) vs by scattered indices (keeps exactly k). Random floats have no ties; e.g. a row of equal logits shows it."""
import torch

K = 3


def left(logits):
    kth = torch.topk(logits, K)[0][..., -1, None]
    return logits.masked_fill(logits < kth, -1e9).softmax(-1)


def right(logits):
    keep = torch.zeros_like(logits).scatter(-1, logits.topk(K, -1).indices, 1.0)
    return torch.where(keep > 0, logits, torch.full_like(logits, -1e9)).softmax(-1)


inputs = (torch.randn(4, 9),)
