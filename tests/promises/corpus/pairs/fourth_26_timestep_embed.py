# DIFFERENT: wrong order of concat: right cat([sin, cos]), left cat([cos, sin])
"""Time embedding of a diffusion U-Net: CompVis' timestep_embedding and its MLP, and the one in our sampler."""
import math

import torch
import torch.nn as nn

torch.manual_seed(26)
CH, EMB = 16, 24


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(start=0, end=half) / half)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class TimeEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_embed = nn.Sequential(nn.Linear(CH, EMB), nn.SiLU(), nn.Linear(EMB, EMB))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(EMB, 8))
        self.norm = nn.GroupNorm(4, 8)

    def forward(self, h, t):
        emb = self.time_embed(timestep_embedding(t, CH))
        emb_out = self.emb_layers(emb)
        return self.norm(h + emb_out[..., None, None])


class SamplerEmbed(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = ref.time_embed[0], ref.time_embed[2], ref.emb_layers[1]
        self.norm = ref.norm
        self.register_buffer("freqs", 10000.0 ** (-torch.arange(CH // 2) / (CH // 2)))

    def forward(self, h, t):
        phase = torch.outer(t.float(), self.freqs)
        e = torch.cat([phase.sin(), phase.cos()], 1)
        e = self.fc2(torch.nn.functional.silu(self.fc1(e)))
        return self.norm(h + self.fc3(torch.nn.functional.silu(e)).view(*h.shape[:2], 1, 1))


left = TimeEmbed().eval()
right = SamplerEmbed(left).eval()
inputs = (torch.randn(3, 8, 5, 5), torch.randint(0, 1000, (3,)))
