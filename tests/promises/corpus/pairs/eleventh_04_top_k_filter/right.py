import torch


def top_k_probs(logits, temperature=0.7, top_k=5):
    vocab = logits.size(-1)
    threshold = logits.kthvalue(vocab - top_k + 1, dim=-1, keepdim=True).values
    keep = logits >= threshold
    weights = torch.exp((logits - logits.amax(-1, keepdim=True)) / temperature) * keep
    return weights / weights.sum(-1, keepdim=True)


def inputs():
    return (torch.randn(3, 17),)
