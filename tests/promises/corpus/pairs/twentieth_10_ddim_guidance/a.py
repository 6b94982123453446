"""DDIM with classifier-free guidance: the model is called twice per step, x0 is predicted."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, CLASSES, TRAIN, STEPS, GUIDANCE = 6, 4, 50, (40, 25, 10), 3.0


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(CLASSES + 1, 8)
        self.up, self.time, self.down = nn.Linear(WIDTH, 8), nn.Linear(4, 8), nn.Linear(8, WIDTH)
        self.register_buffer("alphas", torch.cumprod(1 - torch.linspace(1e-3, 2e-2, TRAIN), 0))

    def code(self, t):
        angle = t[:, None] * torch.tensor([1.0, 0.01])
        return torch.cat((angle.sin(), angle.cos()), dim=-1)

    def forward(self, x, t, label):
        h = F.silu(self.up(x) + self.time(self.code(t)) + self.label(label))
        return self.down(h)


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Denoiser()

    def forward(self, x, label):
        nothing = torch.full_like(label, CLASSES)
        for i, step in enumerate(STEPS):
            t = torch.full((x.shape[0],), float(step))
            conditional = self.net(x, t, label)
            free = self.net(x, t, nothing)
            eps = free + GUIDANCE * (conditional - free)
            a = self.net.alphas[step]
            before = self.net.alphas[STEPS[i + 1]] if i + 1 < len(STEPS) else torch.tensor(1.0)
            clean = (x - (1 - a).sqrt() * eps) / a.sqrt()
            x = before.sqrt() * clean + (1 - before).sqrt() * eps
        return x


def inputs():
    return torch.randn(3, WIDTH), torch.randint(0, CLASSES, (3,))
