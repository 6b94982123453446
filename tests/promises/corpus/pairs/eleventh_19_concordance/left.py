import torch


def ccc_loss(pred, gold):
    pm, gm = pred.mean(), gold.mean()
    cov = ((pred - pm) * (gold - gm)).mean()
    pv = ((pred - pm) ** 2).mean()
    gv = ((gold - gm) ** 2).mean()
    return 1 - 2 * cov / (pv + gv + (pm - gm) ** 2)


def inputs():
    gold = torch.randn(9)
    return gold + 0.5 * torch.randn(9), gold
