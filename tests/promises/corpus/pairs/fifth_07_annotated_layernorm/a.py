import torch
from torch import nn


class Sublayer(nn.Module):
    """Pre-norm residual around a feed-forward layer."""

    def __init__(self, features=12):
        super().__init__()
        self.norm = nn.LayerNorm(features, eps=1e-6)
        self.w_1 = nn.Linear(features, 24)
        self.w_2 = nn.Linear(24, features)

    def forward(self, x):
        return x + self.w_2(self.w_1(self.norm(x)).relu())


torch.manual_seed(0)
program = Sublayer().eval()
with torch.no_grad():
    program.norm.weight.uniform_(0.5, 1.5)
    program.norm.bias.normal_(0, 0.2)
