"""A causal convolution block of a streaming recogniser: offline, and chunk by chunk with caches."""
import torch
from torch import nn
from torch.nn import functional as F

C, K, CHUNK = 6, 3, 4
DILATIONS = (1, 2)
B, T = 2, 11


class CausalLayer(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.context = (K - 1) * dilation
        self.pointwise = nn.Conv1d(C, 2 * C, 1)
        self.depthwise = nn.Conv1d(C, C, K, dilation=dilation, groups=C)
        self.out = nn.Conv1d(C, C, 1)

    def forward(self, x):
        h = F.glu(self.pointwise(x), dim=1)
        h = self.depthwise(F.pad(h, (self.context, 0)))
        return x + self.out(F.silu(h))


class Offline(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(CausalLayer(d) for d in DILATIONS)

    def forward(self, x):                          # [B, C, T]
        for layer in self.layers:
            x = layer(x)
        return x


class Streaming(nn.Module):
    def __init__(self, offline):
        super().__init__()
        self.layers = offline.layers

    def step(self, chunk, caches):
        kept = []
        for layer, cache in zip(self.layers, caches):
            value, gate = layer.pointwise(chunk).chunk(2, dim=1)
            h = torch.cat([cache, value * torch.sigmoid(gate)], dim=2)
            kept.append(h[:, :, -layer.context :])
            h = layer.depthwise(h)
            chunk = chunk + layer.out(h * torch.sigmoid(h))
        return chunk, kept

    def forward(self, x):
        caches = [x.new_zeros(x.shape[0], C, layer.context) for layer in self.layers]
        out = []
        for chunk in x.split(CHUNK, dim=2):
            y, caches = self.step(chunk, caches)
            out.append(y)
        return torch.cat(out, dim=2)


left = Offline()
right = Streaming(left)


def inputs():
    return (torch.randn(B, C, T),)
