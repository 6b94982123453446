import math

import torch


def em_step(x, means, log_vars, logits):
    variances = log_vars.exp()
    diff = x[:, None, :] - means[None]
    log_prob = -0.5 * (diff**2 / variances + torch.log(2 * math.pi * variances)).sum(-1)
    weighted = log_prob + torch.log_softmax(logits, 0)
    norm = torch.logsumexp(weighted, dim=1, keepdim=True)
    resp = torch.exp(weighted - norm)
    nk = resp.sum(0)
    new_means = (resp[:, :, None] * x[:, None, :]).sum(0) / nk[:, None]
    new_vars = (resp[:, :, None] * (x[:, None, :] - new_means) ** 2).sum(0) / nk[:, None]
    return norm.mean(), nk / x.shape[0], new_means, new_vars


def inputs():
    return torch.randn(7, 3), torch.randn(4, 3), 0.3 * torch.randn(4, 3), torch.randn(4)
