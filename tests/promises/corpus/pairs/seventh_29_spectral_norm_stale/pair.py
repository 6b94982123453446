import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(129)


def unit(x, eps=1e-12):
    return F.normalize(x, dim=0, eps=eps)


class SNLinear(nn.Module):
    """SNGAN's layer in training: one power iteration per call."""

    def __init__(self, d_in=5, d_out=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, d_in))
        self.bias = nn.Parameter(torch.randn(d_out))
        self.register_buffer("u", unit(torch.randn(d_out)))

    def forward(self, x):
        with torch.no_grad():
            v = unit(self.weight.T @ self.u)
            u = unit(self.weight @ v)
            self.u.copy_(u)
        sigma = torch.dot(u, torch.mv(self.weight, v))
        return F.linear(x, self.weight / sigma, self.bias)


class SNLinearFused(SNLinear):
    """Divides the output, which is smaller than the weight, and reuses W v."""

    def forward(self, x):
        u = self.u.clone()
        v = unit(torch.einsum("oi,o->i", self.weight.detach(), u))
        wv = self.weight @ v
        with torch.no_grad():
            self.u.copy_(wv / wv.norm().clamp_min(1e-12))
        sigma = (u * wv).sum()
        return x @ self.weight.T / sigma + self.bias


left = SNLinear().train()
right = SNLinearFused().train()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(3, 5),)
