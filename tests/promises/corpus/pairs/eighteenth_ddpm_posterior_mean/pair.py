import torch

STEPS = 10


def from_clean_image(x_t, eps, t):
    """Guided diffusion: predict x_0, then the mean of q(x_{t-1} | x_t, x_0)."""
    betas = torch.linspace(1e-4, 0.02, STEPS, dtype=x_t.dtype)
    alphas = 1.0 - betas
    alpha_bar = torch.cumprod(alphas, dim=0)
    alpha_bar_prev = torch.cat([torch.ones(1, dtype=x_t.dtype), alpha_bar[:-1]])

    def extract(table):
        return table.gather(0, t).view(-1, 1, 1, 1)

    x_0 = extract((1 / alpha_bar).sqrt()) * x_t - extract((1 / alpha_bar - 1).sqrt()) * eps
    coef_0 = betas * alpha_bar_prev.sqrt() / (1 - alpha_bar)
    coef_t = (1 - alpha_bar_prev) * alphas.sqrt() / (1 - alpha_bar)
    return extract(coef_0) * x_0 + extract(coef_t) * x_t


def from_noise(x_t, eps, t):
    """Ho et al., algorithm 2: the noise is taken off in one formula."""
    beta = torch.linspace(1e-4, 0.02, STEPS, dtype=x_t.dtype)
    alpha = 1.0 - beta
    sigma = torch.sqrt(1.0 - alpha.cumprod(0))
    b, a, s = (v[t][:, None, None, None] for v in (beta, alpha, sigma))
    return (x_t - b / s * eps) / torch.sqrt(a)


def example(B=3, C=2, H=4, W=5):
    return torch.randn(B, C, H, W), torch.randn(B, C, H, W), torch.randint(0, STEPS, (B,))


def inputs():
    return example()
