"""DPM-Solver++(2M), four steps over a Karras schedule."""
import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.l1, self.l2 = nn.Linear(d + 1, 16), nn.Linear(16, d)

    def forward(self, x, sigma):
        c = (sigma.log() / 4).expand(x.shape[0], 1)
        h = torch.cat([x / (1 + sigma ** 2).sqrt(), c], 1)
        return self.l2(torch.nn.functional.silu(self.l1(h)))


def karras(n, lo=0.03, hi=8.0, rho=7.0):
    ramp = torch.linspace(0, 1, n)
    a, b = hi ** (1 / rho), lo ** (1 / rho)
    return (a + ramp * (b - a)) ** rho


class KDiffusion(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, noise):
        sigmas = karras(5)
        x = noise * sigmas[0]
        t_fn = lambda s: s.log().neg()
        sigma_fn = lambda t: t.neg().exp()
        old = None
        for i in range(len(sigmas) - 1):
            denoised = self.model(x, sigmas[i])
            t, t_next = t_fn(sigmas[i]), t_fn(sigmas[i + 1])
            h = t_next - t
            if old is None:
                x = (sigma_fn(t_next) / sigma_fn(t)) * x - (-h).expm1() * denoised
            else:
                r = (t - t_fn(sigmas[i - 1])) / h
                dd = (1 + 1 / (2 * r)) * denoised - (1 / (2 * r)) * old
                x = (sigma_fn(t_next) / sigma_fn(t)) * x - (-h).expm1() * dd
            old = denoised
        return x


class Multistep(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.n = 4

    def forward(self, noise):
        sig = karras(self.n + 1)
        lam = -torch.log(sig)
        sample = sig[0] * noise
        outs = []
        for i in range(self.n):
            outs.append(self.model(sample, sig[i]))
            h = lam[i + 1] - lam[i]
            D0 = outs[-1]
            gain = torch.exp(-h) - 1.0
            step = sig[i + 1] / sig[i] * sample - gain * D0
            if i > 0:
                r0 = (lam[i] - lam[i - 1]) / h
                D1 = (1.0 / r0) * (outs[-1] - outs[-2])
                step = step - 0.5 * gain * D1
            sample = step
        return sample


torch.manual_seed(0)
net = Denoiser()
left, right = KDiffusion(net), Multistep(net)
inputs = (torch.randn(3, 6),)
