# EQUAL
# Three steps of DDIM (eta = 0, variance preserving, epsilon prediction) and the same steps as k-diffusion's Euler
# sampler on x / sqrt(alpha_bar) with sigma = sqrt((1 - alpha_bar) / alpha_bar)
import torch
from torch import nn

ALPHA_BARS = (0.30, 0.55, 0.85, 1.0)


class EpsNet(nn.Module):
    def __init__(self, dim=5):
        super().__init__()
        self.a, self.b = nn.Linear(dim, 8), nn.Linear(8, dim)

    def forward(self, x, step):
        return self.b(torch.tanh(self.a(x) + 0.1 * step))


class DDIMSampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = EpsNet()

    def forward(self, x):
        for i in range(3):
            ab, ab_next = ALPHA_BARS[i], ALPHA_BARS[i + 1]
            eps = self.net(x, i)
            pred_x0 = (x - (1 - ab) ** 0.5 * eps) / ab ** 0.5
            x = ab_next ** 0.5 * pred_x0 + (1 - ab_next) ** 0.5 * eps
        return x


def to_d(x, sigma, denoised):
    return (x - denoised) / sigma


class KEuler(DDIMSampler):
    def denoise(self, x, sigma, i):
        c_in = 1 / (sigma ** 2 + 1) ** 0.5
        return x - sigma * self.net(x * c_in, i)

    def forward(self, x):
        sigmas = [((1 - a) / a) ** 0.5 for a in ALPHA_BARS]
        x = x * (sigmas[0] ** 2 + 1) ** 0.5
        for i in range(len(sigmas) - 1):
            d = to_d(x, sigmas[i], self.denoise(x, sigmas[i], i))
            x = x + d * (sigmas[i + 1] - sigmas[i])
        return x


left, right = DDIMSampler, KEuler


def inputs():
    return (torch.randn(4, 5),)
