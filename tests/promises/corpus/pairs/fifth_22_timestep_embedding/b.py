import torch
from torch import nn

from a import program as original


class SinusoidalMLP(nn.Module):
    """Sine and cosine interleaved, as tensor2tensor's successors do; the first matrix's columns follow."""

    def __init__(self, embedder):
        super().__init__()
        first, last = embedder.mlp[0], embedder.mlp[2]
        half = first.in_features // 2
        cos, sin = first.weight.detach().split(half, dim=1)
        self.weight_in = nn.Parameter(torch.stack([sin, cos], dim=2).flatten(1))
        self.bias_in = nn.Parameter(first.bias.detach().clone())
        self.weight_out = nn.Parameter(last.weight.detach().clone())
        self.bias_out = nn.Parameter(last.bias.detach().clone())

    def forward(self, t):
        half = self.weight_in.shape[1] // 2
        i = torch.arange(half, dtype=t.dtype)
        angle = torch.outer(t, 1.0 / (10000.0 ** (i / half)))
        features = torch.stack((angle.sin(), angle.cos()), dim=-1).reshape(t.shape[0], -1)
        h = torch.addmm(self.bias_in, features, self.weight_in.t())
        return torch.addmm(self.bias_out, h * h.sigmoid(), self.weight_out.t())


program = SinusoidalMLP(original).eval()
