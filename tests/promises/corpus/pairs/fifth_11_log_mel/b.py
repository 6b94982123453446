import torch
from torch import nn
from torch.nn import functional as F

from a import LogMel


class ConvMel(nn.Module):
    """The short-time Fourier transform as one strided convolution with windowed kernels."""

    def __init__(self, mel):
        super().__init__()
        self.hop = mel.hop
        kernels = torch.cat([mel.cosine.T, mel.sine.T]) * mel.window
        self.register_buffer("kernels", kernels[:, None])
        self.register_buffer("filters", mel.filters.T.contiguous())

    def forward(self, wave):
        spectrum = F.conv1d(wave.unsqueeze(1), self.kernels, stride=self.hop)
        real, imag = spectrum.chunk(2, dim=1)
        energy = torch.einsum("mf,bft->bmt", self.filters, real.square() + imag.square())
        return energy.clamp_min(1e-5).log()


program = ConvMel(LogMel()).eval()
