"""The same step with the Joseph form, and the likelihood from torch.distributions."""
import torch
from torch.distributions import Normal


def step(x, root, transition, noise, h, z, log_r):
    r = log_r.exp()
    moved = transition @ root
    x = x @ transition.T
    p = torch.einsum("bij,bkj->bik", moved, moved)
    p = p + torch.eye(x.shape[-1]) * noise.exp()[:, None, :]
    h = h[:, None, :]                                                # an observation matrix of one row
    s = h @ p @ h.mT + r[:, None, None]
    gain = p @ h.mT / s
    predicted = (h @ x[:, :, None])[:, 0, 0]
    keep = torch.eye(x.shape[-1]) - gain @ h
    updated = keep @ p @ keep.mT + r[:, None, None] * gain @ gain.mT
    likelihood = Normal(predicted, s[:, 0, 0].sqrt(), validate_args=False).log_prob(z)
    return x + gain[:, :, 0] * (z - predicted)[:, None], updated, likelihood
