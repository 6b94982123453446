import math

import torch


def em_step(x, means, log_vars, logits):
    n, d = x.shape
    precision = torch.exp(-log_vars)
    quadratic = x.square() @ precision.T - 2 * x @ (means * precision).T + (means.square() * precision).sum(1)
    joint = logits.log_softmax(0) - 0.5 * (d * math.log(2 * math.pi) + log_vars.sum(1) + quadratic)
    resp = joint.softmax(dim=1)
    total = resp.sum(dim=0)
    mean = resp.T @ x / total.unsqueeze(1)
    variance = resp.T @ x.square() / total.unsqueeze(1) - mean.square()
    return joint.logsumexp(1).sum() / n, resp.mean(0), mean, variance


def inputs():
    return torch.randn(7, 3), torch.randn(4, 3), 0.3 * torch.randn(4, 3), torch.randn(4)
