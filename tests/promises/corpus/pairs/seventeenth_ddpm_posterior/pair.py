"""Mean and variance of the DDPM posterior q(x_{t-1} | x_t, x_0): tables as in OpenAI's code, and by index."""
import torch
from torch import nn

STEPS = 20
B, C, S = 4, 2, 3


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("betas", torch.linspace(1e-3, 0.2, STEPS))

    def forward(self, x_start, x_t, t):
        alphas = 1.0 - self.betas
        alphas_cumprod = torch.cumprod(alphas, dim=0)
        alphas_cumprod_prev = nn.functional.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
        variance = self.betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)
        coef1 = self.betas * torch.sqrt(alphas_cumprod_prev) / (1.0 - alphas_cumprod)
        coef2 = (1.0 - alphas_cumprod_prev) * torch.sqrt(alphas) / (1.0 - alphas_cumprod)

        def extract(table):
            return table.gather(-1, t).reshape(-1, 1, 1, 1)

        return extract(coef1) * x_start + extract(coef2) * x_t, extract(variance)


class ByIndex(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("betas", torch.linspace(1e-3, 0.2, STEPS))

    def forward(self, x_start, x_t, t):
        product = torch.cumprod(1.0 - self.betas, dim=0)
        beta = self.betas[t][:, None, None, None]
        now = product[t][:, None, None, None]
        before = product[(t - 1).clamp(min=0)][:, None, None, None]
        mean = (beta * before.sqrt() * x_start + (1 - before) * (1 - beta).sqrt() * x_t) / (1 - now)
        return mean, beta * (1 - before) / (1 - now)


left = Tables
right = ByIndex


def inputs():
    t = torch.randint(0, STEPS, (B,))
    t[0] = 0
    t[1] = STEPS - 1
    return torch.randn(B, C, S, S), torch.randn(B, C, S, S), t
