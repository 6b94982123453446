"""OpenFold's OuterProductMean (Algorithm 10 of AlphaFold 2)."""
import torch
from torch import nn


class OuterProductMean(nn.Module):
    def __init__(self, c_m=8, c_z=5, c_hidden=4, eps=1e-3):
        super().__init__()
        self.eps = eps
        self.layer_norm = nn.LayerNorm(c_m)
        self.linear_1 = nn.Linear(c_m, c_hidden)
        self.linear_2 = nn.Linear(c_m, c_hidden)
        self.linear_out = nn.Linear(c_hidden**2, c_z)

    def _opm(self, a, b):
        outer = torch.einsum("...bac,...dae->...bdce", a, b)
        outer = outer.reshape(outer.shape[:-2] + (-1,))
        return self.linear_out(outer)

    def forward(self, m, mask):
        ln = self.layer_norm(m)
        mask = mask.unsqueeze(-1)
        a = self.linear_1(ln) * mask
        b = self.linear_2(ln) * mask
        a = a.transpose(-2, -3)
        b = b.transpose(-2, -3)
        outer = self._opm(a, b)
        norm = torch.einsum("...abc,...adc->...bdc", mask, mask)
        norm = norm + self.eps
        return outer / norm


def inputs():
    m = torch.randn(2, 5, 6, 8)                        # batch, sequences, residues, channels
    mask = (torch.rand(2, 5, 6) > 0.2).to(m.dtype)
    mask[:, 0] = 1
    return m, mask
