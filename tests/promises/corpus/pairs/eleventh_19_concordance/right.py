import torch


def ccc_loss(pred, gold):
    mean_p, mean_g = torch.mean(pred), torch.mean(gold)
    covariance = torch.mean((pred - mean_p) * (gold - mean_g))
    ccc = 2.0 * covariance / (torch.var(pred) + torch.var(gold) + torch.square(mean_p - mean_g))
    return 1.0 - ccc


def inputs():
    gold = torch.randn(9)
    return gold + 0.5 * torch.randn(9), gold
