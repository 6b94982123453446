import torch

BETAS = torch.linspace(1e-4, 0.02, 50)
ALPHAS_CUMPROD = torch.cumprod(1.0 - BETAS, dim=0)


def program(sample, velocity, timestep, previous):
    """A deterministic DDIM step (eta = 0) of a model that predicts v."""
    alpha_prod = ALPHAS_CUMPROD[timestep].view(-1, 1, 1, 1)
    alpha_prod_prev = ALPHAS_CUMPROD[previous].view(-1, 1, 1, 1)
    beta_prod = 1 - alpha_prod
    pred_original = alpha_prod**0.5 * sample - beta_prod**0.5 * velocity
    pred_epsilon = alpha_prod**0.5 * velocity + beta_prod**0.5 * sample
    direction = (1 - alpha_prod_prev) ** 0.5 * pred_epsilon
    return alpha_prod_prev**0.5 * pred_original + direction
