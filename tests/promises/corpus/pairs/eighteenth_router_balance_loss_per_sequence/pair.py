import torch
from torch.nn import functional as F

TOP_K = 2


def over_the_batch(router_logits):
    """Switch / Mixtral: shares of tokens and of probability over all tokens of the batch."""
    experts = router_logits.shape[-1]
    flat = router_logits.reshape(-1, experts)
    probs = torch.softmax(flat, dim=-1)
    _, chosen = torch.topk(probs, TOP_K, dim=-1)
    mask = F.one_hot(chosen, experts).to(probs.dtype)
    tokens_per_expert = mask.mean(dim=0).sum(dim=0)
    prob_per_expert = probs.mean(dim=0)
    return experts * (tokens_per_expert * prob_per_expert).sum() / TOP_K


def rewritten(router_logits):
    """Without flattening, and with a scatter instead of a one-hot."""
    batch, length, experts = router_logits.shape
    scores = router_logits.softmax(dim=-1)
    top = router_logits.topk(TOP_K, dim=-1).indices
    picked = torch.zeros_like(scores).scatter(-1, top, 1.0)
    share = picked.sum(dim=1) / (length * TOP_K)
    mass = scores.sum(dim=1) / length
    return experts * torch.einsum("be,be->b", share, mass).mean()


def example(B=3, T=5, E=4):
    return (torch.randn(B, T, E),)


def inputs():
    return example()
