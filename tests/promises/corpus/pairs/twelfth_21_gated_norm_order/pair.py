"""The gated output of a Mamba-2 mixer: RMSNormGated, then the output projection."""
import torch
from torch import nn
from torch.nn import functional as F


class MambaRMSNormGated(nn.Module):
    def __init__(self, hidden_size, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(hidden_size) + 0.5)
        self.variance_epsilon = eps

    def forward(self, hidden_states, gate=None):
        if gate is not None:
            hidden_states = hidden_states * F.silu(gate)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states


class MixerOutput(nn.Module):
    def __init__(self, dim=8, inner=16):
        super().__init__()
        self.in_proj = nn.Linear(dim, 2 * inner, bias=False)
        self.D = nn.Parameter(torch.randn(inner))
        self.norm = MambaRMSNormGated(inner)
        self.out_proj = nn.Linear(inner, dim, bias=False)

    def forward(self, u, y):
        z, x = self.in_proj(u).chunk(2, dim=-1)
        return self.out_proj(self.norm(y + self.D * F.silu(x), z))


class EngineMixerOutput(MixerOutput):
    def forward(self, u, y):
        z, x = F.linear(u, self.in_proj.weight).split(16, dim=-1)
        h = y + self.D * F.silu(x)
        h = F.rms_norm(h, (16,), self.norm.weight, self.norm.variance_epsilon)
        return F.linear(h * F.silu(z), self.out_proj.weight)


left = MixerOutput
right = EngineMixerOutput
inputs = (torch.randn(2, 5, 8), torch.randn(2, 5, 16))
