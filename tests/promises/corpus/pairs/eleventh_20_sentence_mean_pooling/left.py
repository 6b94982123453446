import torch
from torch.nn import functional as F


def mean_pooling(token_embeddings, attention_mask):
    input_mask_expanded = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).to(token_embeddings.dtype)
    summed = torch.sum(token_embeddings * input_mask_expanded, 1)
    mean = summed / torch.clamp(input_mask_expanded.sum(1), min=1e-9)
    return F.normalize(mean, p=2, dim=1)


def inputs():
    return torch.randn(3, 5, 6), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
