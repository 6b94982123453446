# EQUAL
"""Hyena operator: the long convolution by FFT, and as a causal depthwise convolution for short prompts."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(32)
D, L = 4, 8


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        t = torch.linspace(0, 1, L)[:, None]
        self.register_buffer("z", torch.cat([t, torch.cos(2 * torch.pi * t), torch.sin(2 * torch.pi * t)], 1))
        self.mlp = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, D))
        self.decay = nn.Parameter(torch.rand(D) + 0.5)

    def forward(self):
        h = self.mlp(self.z) * torch.exp(-self.decay * self.z[:, :1])
        return h.T                                                       # d, l


class Hyena(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(D, 3 * D)
        self.filter = Filter()
        self.bias = nn.Parameter(torch.randn(D))
        self.out_proj = nn.Linear(D, D)

    def fftconv(self, u, k):
        n = 2 * u.shape[-1]
        y = torch.fft.irfft(torch.fft.rfft(u, n=n) * torch.fft.rfft(k, n=n), n=n)[..., :u.shape[-1]]
        return y + u * self.bias[:, None]

    def forward(self, x):
        x1, x2, v = self.in_proj(x).transpose(1, 2).chunk(3, dim=1)
        y = self.fftconv(v * x1, self.filter()) * x2
        return self.out_proj(y.transpose(1, 2))


class Direct(Hyena):
    def fftconv(self, u, k):
        k = torch.cat([k[:, :1] + self.bias[:, None], k[:, 1:]], 1)
        return F.conv1d(F.pad(u, (L - 1, 0)), k.flip(-1).unsqueeze(1), groups=D)


left = Hyena().eval()
right = Direct().eval()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, L, D),)
