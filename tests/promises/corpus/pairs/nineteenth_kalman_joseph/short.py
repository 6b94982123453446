"""A batched Kalman filter step with a scalar measurement; the textbook's short form."""
import torch


def step(x, root, transition, noise, h, z, log_r):
    """x: (B, n); root: (B, n, n), a factor of the covariance; h: (B, n), z: (B,)."""
    p = root @ root.mT
    x = (transition @ x[..., None]).squeeze(-1)
    p = transition @ p @ transition.mT + torch.diag_embed(noise.exp())
    ph = (p @ h[..., None]).squeeze(-1)
    s = (h * ph).sum(-1) + torch.exp(log_r)
    k = ph / s[:, None]
    innovation = z - (h * x).sum(-1)
    log_likelihood = -0.5 * (innovation**2 / s + torch.log(2 * torch.pi * s))
    return x + k * innovation[:, None], p - k[:, :, None] * ph[:, None, :], log_likelihood


def inputs():
    b, n = 2, 3
    return (torch.randn(b, n), torch.randn(b, n, n), torch.randn(n, n), torch.randn(b, n), torch.randn(b, n),
            torch.randn(b), torch.randn(b))
