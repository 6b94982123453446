import torch


def top_k_probs(logits, temperature=0.7, top_k=5):
    logits = logits / temperature
    indices_to_remove = logits < torch.topk(logits, top_k)[0][..., -1, None]
    logits = logits.masked_fill(indices_to_remove, -float("inf"))
    return torch.softmax(logits, dim=-1)


def inputs():
    return (torch.randn(3, 17),)
