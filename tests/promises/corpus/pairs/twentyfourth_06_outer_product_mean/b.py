"""Outer product mean with flattened matmuls: mean first, then the output projection."""
import torch
from torch import nn


class FusedOuterProductMean(nn.Module):
    def __init__(self, c_m=8, c_z=5, c_hidden=4, eps=1e-3):
        super().__init__()
        self.eps, self.hidden = eps, c_hidden
        self.layer_norm = nn.LayerNorm(c_m)
        self.linear_1 = nn.Linear(c_m, c_hidden)
        self.linear_2 = nn.Linear(c_m, c_hidden)
        self.linear_out = nn.Linear(c_hidden**2, c_z)

    def forward(self, m, mask):
        B, S, R, _ = m.shape
        x = self.layer_norm(m)
        left = (self.linear_1(x) * mask[..., None]).reshape(B, S, -1)       # B, S, R*h
        right = (self.linear_2(x) * mask[..., None]).reshape(B, S, -1)
        outer = torch.bmm(left.transpose(1, 2), right)                      # B, R*h, R*h
        outer = outer.view(B, R, self.hidden, R, self.hidden).permute(0, 1, 3, 2, 4)
        count = torch.bmm(mask.transpose(1, 2), mask)[..., None] + self.eps
        mean = outer.flatten(3) / count
        return self.linear_out(mean)
