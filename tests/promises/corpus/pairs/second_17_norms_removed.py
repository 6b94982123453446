# EQUAL.
"""A small audio discriminator: weight_norm convolutions and a spectral_norm head, against the export with both removed.
EQUAL up to rounding (eval mode)."""
import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import spectral_norm, weight_norm


class Disc(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = weight_norm(nn.Conv1d(3, 8, 5, stride=2, padding=2))
        self.c2 = weight_norm(nn.Conv1d(8, 6, 3, groups=2))
        self.head = spectral_norm(nn.Linear(6, 1))

    def forward(self, wav):
        h = nn.functional.leaky_relu(self.c1(wav), 0.1)
        h = nn.functional.leaky_relu(self.c2(h), 0.1)
        return self.head(h.mean(-1)).squeeze(-1)


torch.manual_seed(11)
left = Disc().eval()
with torch.no_grad():
    left.c1.parametrizations.weight.original0.mul_(1.7)
    left.c2.parametrizations.weight.original0.mul_(0.6)
right = Disc().eval()
right.load_state_dict(left.state_dict())
for m in (right.c1, right.c2, right.head):
    parametrize.remove_parametrizations(m, "weight")
inputs = (torch.randn(2, 3, 16),)
