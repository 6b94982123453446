# DIFFERENT
import torch


def left(latent, noise_pred, scale, sigma, sigma_next):
    uncond, cond = noise_pred.chunk(2)
    eps = uncond + scale * (cond - uncond)
    return latent + (sigma_next - sigma) * eps


def right(latent, noise_pred, scale, sigma, sigma_next):
    b = latent.shape[0]
    eps_u, eps_c = noise_pred[:b], noise_pred[b:]
    eps = (1 + scale) * eps_c - scale * eps_u
    return latent - (sigma - sigma_next) * eps


def inputs():
    torch.manual_seed(17)
    return (
        torch.randn(2, 4, 3, 3),
        torch.randn(4, 4, 3, 3),
        torch.tensor(5.0) + torch.rand(()),
        torch.rand(()) + 1,
        torch.rand(()),
    )
