import math

import torch


def si_sdr(estimate, reference):
    x = estimate - estimate.mean(dim=-1, keepdim=True)
    s = reference - reference.mean(dim=-1, keepdim=True)
    xs = torch.einsum("bt,bt->b", x, s)
    rho = xs.square() / (x.square().sum(-1) * s.square().sum(-1))
    return 10 / math.log(10) * (torch.log1p(-rho) - torch.log(rho)).mean()


def inputs():
    reference = torch.randn(3, 20)
    return reference + 0.3 * torch.randn(3, 20), reference
