import torch


def mean_pooling(hidden, mask):
    weights = mask.to(hidden.dtype)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
    pooled = torch.bmm(weights[:, None, :], hidden).squeeze(1)
    return pooled / pooled.norm(dim=-1, keepdim=True).clamp_min(1e-12)


def inputs():
    return torch.randn(3, 5, 6), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
