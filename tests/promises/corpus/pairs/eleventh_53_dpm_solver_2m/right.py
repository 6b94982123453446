import torch


def step(sample, noise_pred, old_denoised, t_last, t, t_next):
    """In k-diffusion's space: sigma = exp(-t), the sample divided by alpha = 1 / sqrt(1 + sigma^2)."""
    sigma, sigma_next = torch.exp(-t), torch.exp(-t_next)
    x = sample * torch.sqrt(1 + sigma**2)
    denoised = x - sigma * noise_pred
    h, h_last = t_next - t, t - t_last
    r = h_last / h
    denoised_d = (1 + 1 / (2 * r)) * denoised - (1 / (2 * r)) * old_denoised
    x = (sigma_next / sigma) * x - (-h).expm1() * denoised_d
    return x / torch.sqrt(1 + sigma_next**2), denoised


def inputs():
    return torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.tensor(-1.2), torch.tensor(-0.5), torch.tensor(0.4)
