# EQUAL (if no two logits of a row are equal). HF's TopPLogitsWarper (ascending, scatter) vs descending with inverse permutation
import torch

P = 0.8


def left(scores):
    sorted_logits, sorted_indices = torch.sort(scores, descending=False)
    cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    sorted_indices_to_remove = cumulative_probs <= (1 - P)
    sorted_indices_to_remove[..., -1:] = 0
    indices_to_remove = sorted_indices_to_remove.scatter(1, sorted_indices, sorted_indices_to_remove)
    return scores.masked_fill(indices_to_remove, -float("inf"))


def right(scores):
    probs = torch.softmax(scores, -1)
    p, order = probs.sort(dim=-1, descending=True)
    before = p.cumsum(-1) - p                       # mass of the tokens ahead of this one
    keep_sorted = before < P
    keep = keep_sorted.gather(1, order.argsort(-1))
    return torch.where(keep, scores, torch.full_like(scores, -float("inf")))


torch.manual_seed(0)
inputs = (torch.randn(3, 6),)
