import torch


def alpha_sigma(half_log_snr):
    return torch.sigmoid(2 * half_log_snr).sqrt(), torch.sigmoid(-2 * half_log_snr).sqrt()


def step(sample, noise_pred, last_x0, lambda_s1, lambda_s0, lambda_t):
    alpha_s0, sigma_s0 = alpha_sigma(lambda_s0)
    alpha_t, sigma_t = alpha_sigma(lambda_t)
    m0 = (sample - sigma_s0 * noise_pred) / alpha_s0
    h, h_0 = lambda_t - lambda_s0, lambda_s0 - lambda_s1
    r0 = h_0 / h
    d0, d1 = m0, (1.0 / r0) * (m0 - last_x0)
    x_t = (
        (sigma_t / sigma_s0) * sample
        - (alpha_t * (torch.exp(-h) - 1.0)) * d0
        - 0.5 * (alpha_t * (torch.exp(-h) - 1.0)) * d1
    )
    return x_t, m0


def inputs():
    return torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.tensor(-1.2), torch.tensor(-0.5), torch.tensor(0.4)
