# EQUAL
import math
import torch


def left(start_logits, trans_logits, means, log_std, obs):
    """Gaussian HMM log-likelihood: the forward algorithm in log space. obs [B, T], K states."""
    log_pi = start_logits.log_softmax(0)
    log_A = trans_logits.log_softmax(1)
    z = (obs[..., None] - means) / log_std.exp()
    log_b = -0.5 * z ** 2 - log_std - 0.5 * math.log(2 * math.pi)
    log_alpha = log_pi + log_b[:, 0]
    for t in range(1, obs.shape[1]):
        log_alpha = torch.logsumexp(log_alpha[:, :, None] + log_A[None], dim=1) + log_b[:, t]
    return torch.logsumexp(log_alpha, dim=1)


def right(start_logits, trans_logits, means, log_std, obs):
    """Rabiner's scaling: keep normalised alphas, add up the logarithms of the scaling factors."""
    pi, A = torch.softmax(start_logits, 0), torch.softmax(trans_logits, -1)
    dist = torch.distributions.Normal(means, log_std.exp(), validate_args=False)
    b = dist.log_prob(obs.unsqueeze(-1)).exp()
    alpha = pi * b[:, 0]
    scale = alpha.sum(1)
    alpha = alpha / scale[:, None]
    loglik = scale.log()
    for t in range(1, obs.size(1)):
        alpha = (alpha @ A) * b[:, t]
        scale = alpha.sum(1)
        alpha = alpha / scale[:, None]
        loglik = loglik + scale.log()
    return loglik


def inputs():
    return torch.randn(3), torch.randn(3, 3), torch.randn(3), 0.3 * torch.randn(3), torch.randn(2, 5)
