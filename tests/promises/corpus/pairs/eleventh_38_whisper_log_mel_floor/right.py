import torch
from torch import nn

from left import Left


class Right(nn.Module):
    def __init__(self, bins=9, mels=4):
        super().__init__()
        self.register_buffer("mel_filters", Left(bins, mels).mel_filters)

    def forward(self, spectrum):
        mel = torch.einsum("mf,bft->bmt", self.mel_filters, spectrum.square())
        log_mel = torch.log10(mel.clamp_min(1e-10))
        log_mel = torch.maximum(log_mel, log_mel.max() - 8.0)
        return log_mel / 4.0 + 1.0


def inputs():
    """A loud recording, a silent one, one between."""
    return (torch.rand(3, 9, 6) * torch.tensor([30.0, 2e-5, 0.1])[:, None, None],)
