import torch


def min_p(logits, ratio=0.1):
    probs = torch.softmax(logits, dim=-1)
    top_prob = probs.amax(dim=-1, keepdim=True)
    tokens_to_remove = probs < ratio * top_prob
    return logits.masked_fill(tokens_to_remove, float("-inf")).softmax(-1)


def inputs():
    return (2 * torch.randn(3, 11),)
