"""Fourier neural operator layer in two dimensions; the port uses fftshift and one block of weights."""
import torch
import torch.nn.functional as F
from torch import nn

M1, M2, CI, CO = 3, 2, 2, 4


class SpectralConv2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights1 = nn.Parameter(torch.randn(CI, CO, M1, M2, 2) / CI)
        self.weights2 = nn.Parameter(torch.randn(CI, CO, M1, M2, 2) / CI)
        self.w = nn.Conv2d(CI, CO, 1)

    def forward(self, x):
        b, _, h, w = x.shape
        ft = torch.fft.rfft2(x)
        out = torch.zeros(b, CO, h, w // 2 + 1, dtype=ft.dtype)
        mul = lambda a, k: torch.einsum("bixy,ioxy->boxy", a, torch.view_as_complex(k))
        out[:, :, :M1, :M2] = mul(ft[:, :, :M1, :M2], self.weights1)
        out[:, :, -M1:, :M2] = mul(ft[:, :, -M1:, :M2], self.weights2)
        return F.gelu(torch.fft.irfft2(out, s=(h, w)) + self.w(x))


class Shifted(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.kernel = nn.Parameter(torch.cat([s.weights1.detach(), s.weights2.detach()], 2))
        self.skip = nn.Linear(CI, CO)
        with torch.no_grad():
            self.skip.weight.copy_(s.w.weight.flatten(1)); self.skip.bias.copy_(s.w.bias)

    def forward(self, x):
        h, w = x.shape[-2:]
        z = torch.fft.fftshift(torch.fft.rfft2(x), dim=-2)
        mid = h // 2
        block = z[:, :, mid - M1:mid + M1, :M2]
        y = torch.einsum("bixy,ioxy->boxy", block, torch.complex(self.kernel[..., 0], self.kernel[..., 1]))
        y = F.pad(y, (0, w // 2 + 1 - M2, mid - M1, h - mid - M1))
        y = torch.fft.irfft2(torch.fft.ifftshift(y, dim=-2), s=(h, w))
        return F.gelu(y + self.skip(x.movedim(1, -1)).movedim(-1, 1))


torch.manual_seed(0)
left = SpectralConv2d()
right = Shifted(left)
inputs = (torch.randn(2, CI, 8, 8),)
