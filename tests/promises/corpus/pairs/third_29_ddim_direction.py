# DIFFERENT: DDIM step with eta: the port puts the full sqrt(1-a_prev) on the direction and forgets to subtract sigma^2
import torch

STEPS, ETA = 20, 0.5
betas = torch.linspace(1e-4**0.5, 0.02**0.5, STEPS) ** 2 * 20
alphas_cumprod = torch.cumprod(1 - betas, 0)


def left(model_output, timestep, sample, noise):
    prev = timestep - 2
    a = alphas_cumprod[timestep].view(-1, 1, 1, 1)
    ap = torch.where(prev >= 0, alphas_cumprod[prev.clamp(min=0)], alphas_cumprod[0]).view(-1, 1, 1, 1)
    x0 = (sample - (1 - a) ** 0.5 * model_output) / a**0.5
    var = (1 - ap) / (1 - a) * (1 - a / ap)
    std = ETA * var**0.5
    direction = (1 - ap - std**2) ** 0.5 * model_output
    return ap**0.5 * x0 + direction + std * noise


def right(eps, t, x, noise):
    shape = (-1, 1, 1, 1)
    ac = alphas_cumprod.to(x.dtype)
    at = ac[t].reshape(shape)
    at_prev = ac[(t - 2).clamp_min(0)].reshape(shape)
    sigma = ETA * ((1 - at_prev) / (1 - at)).sqrt() * (1 - at / at_prev).sqrt()
    pred = (x - (1 - at).sqrt() * eps) * at.rsqrt()
    return at_prev.sqrt() * pred + (1 - at_prev).sqrt() * eps + sigma * noise


def inputs():
    return torch.randn(2, 3, 4, 4), torch.randint(4, STEPS, (2,)), torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4)
