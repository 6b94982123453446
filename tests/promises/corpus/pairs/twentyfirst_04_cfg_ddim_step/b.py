"""The step as we serve it: one batched call, coefficients of x and v looked up together."""
import torch
from torch import nn

from a import Denoiser


class FastSampler(nn.Module):
    def __init__(self, guidance=7.5):
        super().__init__()
        self.net, self.guidance = Denoiser(), guidance
        betas = torch.linspace(1e-4 ** 0.5, 0.02 ** 0.5, 10) ** 2
        self.register_buffer("acp", torch.cumprod(1 - betas, 0))

    def coefficients(self):
        now = self.acp
        before = torch.cat([torch.ones_like(now[:1]), now[:-1]])
        c, s = torch.sqrt(now), torch.sqrt(1 - now)
        cp, sp = torch.sqrt(before), torch.sqrt(1 - before)
        return torch.stack([cp * c + sp * s, sp * c - cp * s])

    def forward(self, x, t, cond, uncond):
        b = x.shape[0]
        both = self.net(x.repeat(2, 1, 1, 1), t.repeat(2), torch.cat([uncond, cond]))
        v_u, v_c = both[:b], both[b:]
        v = torch.lerp(v_u, v_c, self.guidance)
        of_x, of_v = self.coefficients()[:, t]
        return torch.einsum("b,bchw->bchw", of_x, x) + torch.einsum("b,bchw->bchw", of_v, v)
