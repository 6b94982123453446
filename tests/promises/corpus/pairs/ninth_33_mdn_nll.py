# EQUAL
import math
import torch
import torch.distributions as D


def left(logits, mu, log_sigma, target):
    mix = D.Categorical(logits=logits)
    comp = D.Independent(D.Normal(mu, log_sigma.exp()), 1)
    gmm = D.MixtureSameFamily(mix, comp)
    return -gmm.log_prob(target).mean()


def right(logits, mu, log_sigma, target):
    z = (target.unsqueeze(1) - mu) * torch.exp(-log_sigma)
    log_comp = -0.5 * (z * z + math.log(2 * math.pi)).sum(-1) - log_sigma.sum(-1)
    log_joint = torch.logsumexp(logits + log_comp, dim=1) - torch.logsumexp(logits, dim=1)
    return -log_joint.sum() / target.shape[0]


torch.manual_seed(88)
inputs = (
    torch.randn(5, 3),
    torch.randn(5, 3, 2),
    0.3 * torch.randn(5, 3, 2),
    torch.randn(5, 2),
)
