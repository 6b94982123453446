# DIFFERENT
# Diffusion training loss with v-prediction and min-SNR weighting
import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, dim=6, hidden=8):
        super().__init__()
        self.inp = nn.Linear(dim + 1, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, x, t):
        return self.out(torch.relu(self.inp(torch.cat([x, t[:, None]], 1))))


class TrainerDiffusers(nn.Module):
    gamma = 5.0

    def __init__(self):
        super().__init__()
        self.model = Denoiser()
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - torch.linspace(1e-4, 0.2, 20), 0))

    def forward(self, x0, noise, timesteps):
        ab = self.alphas_cumprod[timesteps].unsqueeze(1)
        noisy = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
        velocity = ab.sqrt() * noise - (1 - ab).sqrt() * x0
        pred = self.model(noisy, timesteps / 20.0)
        snr = (ab / (1 - ab)).squeeze(1)
        weights = torch.clamp(snr, max=self.gamma) / (snr + 1)
        loss = ((pred - velocity) ** 2).mean(dim=1)
        return (loss * weights).mean()


class TrainerOurs(TrainerDiffusers):
    """Written with sigma and alpha; the weight is that of noise prediction."""
    def forward(self, x0, noise, timesteps):
        alpha = self.alphas_cumprod.sqrt().gather(0, timesteps).view(-1, 1)
        sigma = (1.0 - self.alphas_cumprod).sqrt().gather(0, timesteps).view(-1, 1)
        z = alpha * x0 + sigma * noise
        v_hat = self.model(z, timesteps / 20.0)
        snr = (alpha / sigma).pow(2).flatten()
        w = torch.minimum(snr, torch.full_like(snr, self.gamma)).div(snr)
        err = v_hat - (alpha * noise - sigma * x0)
        return torch.mean(w * err.pow(2).mean(-1))


left, right = TrainerDiffusers, TrainerOurs


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6), torch.tensor([2, 17, 8, 12])
