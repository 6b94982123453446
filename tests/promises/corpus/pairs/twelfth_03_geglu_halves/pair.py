"""GEGLU of a diffusion transformer, and a port that took the other half for the gate."""
import torch
from torch import nn
from torch.nn import functional as F


class GEGLU(nn.Module):
    """diffusers: the second half is the gate."""

    def __init__(self, dim=8, inner=12):
        super().__init__()
        self.proj = nn.Linear(dim, inner * 2)

    def forward(self, hidden_states):
        hidden_states, gate = self.proj(hidden_states).chunk(2, dim=-1)
        return hidden_states * F.gelu(gate)


class PortedGEGLU(nn.Module):
    def __init__(self, dim=8, inner=12):
        super().__init__()
        self.inner = inner
        self.proj = nn.Linear(dim, inner * 2)

    def forward(self, x):
        y = self.proj(x)
        return F.gelu(y[..., : self.inner]) * y[..., self.inner :]


left = GEGLU
right = PortedGEGLU
inputs = (torch.randn(2, 5, 8),)
