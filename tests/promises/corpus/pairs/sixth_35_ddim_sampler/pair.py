import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)
BETAS = torch.linspace(1e-4**0.5, 0.02**0.5, 100) ** 2
STEPS = [75, 50, 25, 0]


class NoiseModel(nn.Module):
    def __init__(self, dim=4, classes=3):
        super().__init__()
        self.time = nn.Embedding(100, 6)
        self.label = nn.Embedding(classes + 1, 6)
        self.inp = nn.Linear(dim, 6)
        self.out = nn.Linear(6, dim)

    def eps(self, x, t, y):
        return self.out(torch.tanh(self.inp(x) + self.time(t) + self.label(y)))


class DDIM(NoiseModel):
    def __init__(self):
        super().__init__()
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - BETAS, 0))
        self.guidance = 3.0

    def forward(self, x, y):
        null = torch.full_like(y, 3)
        for i, t in enumerate(STEPS):
            tt = torch.full((x.shape[0],), t, dtype=torch.long)
            cond, uncond = self.eps(x, tt, y), self.eps(x, tt, null)
            e = uncond + self.guidance * (cond - uncond)
            a = self.alphas_cumprod[t]
            a_prev = self.alphas_cumprod[STEPS[i + 1]] if i + 1 < len(STEPS) else torch.tensor(1.0)
            x0 = (x - (1 - a).sqrt() * e) / a.sqrt()
            x = a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * e
        return x


class AffineDDIM(NoiseModel):
    def __init__(self):
        super().__init__()
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - BETAS, 0))

    def forward(self, x, y):
        n = x.shape[0]
        labels = torch.cat([y, torch.full_like(y, 3)])
        abar = self.alphas_cumprod[torch.tensor(STEPS)]
        prev = F.pad(abar[1:], (0, 1), value=1.0)
        scale = torch.sqrt(prev / abar)
        shift = torch.sqrt(1 - prev) - torch.sqrt(prev * (1 - abar) / abar)
        for i, t in enumerate(STEPS):
            e2 = self.eps(x.repeat(2, 1), torch.full((2 * n,), t, dtype=torch.long), labels)
            e = 3.0 * e2[:n] - 2.0 * e2[n:]
            x = scale[i] * x + shift[i] * e
        return x


left = DDIM()
right = AffineDDIM()
right.load_state_dict(copy.deepcopy(left.state_dict()))
inputs = (torch.randn(2, 4), torch.tensor([0, 2]))
