"""PPO's loss in one pass over log probabilities, with the clip written as a bound by the advantage's sign."""
import torch
from torch.nn import functional as F

EPS, C_ENT, C_V = 0.2, 0.01, 0.5


def normalised(a):
    centred = a - a.mean()
    std = torch.sqrt(centred.square().sum() / (a.numel() - 1))
    return centred / (std + 1e-8)


def loss(logits, newvalue, actions, old_logprob, advantages, returns, values):
    lse = torch.logsumexp(logits, -1)
    picked = torch.gather(logits, 1, actions[:, None]).squeeze(1)
    log_ratio = picked - lse - old_logprob
    ratio = torch.exp(log_ratio)
    entropy = lse - (F.softmax(logits, -1) * logits).sum(-1)

    adv = normalised(advantages)
    bound = torch.where(adv >= 0, (1 + EPS) * adv, (1 - EPS) * adv)      # spinning up's g(ε, A)
    policy = -torch.minimum(ratio * adv, bound).mean()

    clipped = torch.minimum(torch.maximum(newvalue, values - EPS), values + EPS)
    value = 0.5 * torch.maximum((newvalue - returns).square(), (clipped - returns).square()).mean()

    outside = (ratio > 1 + EPS) | (ratio < 1 - EPS)
    return {
        "loss": policy + C_V * value - C_ENT * entropy.mean(),
        "pg": policy,
        "v": value,
        "kl": (ratio - log_ratio).mean() - 1,
        "clipfrac": outside.float().mean(),
    }
