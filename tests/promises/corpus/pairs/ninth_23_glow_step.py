# EQUAL
import torch
from torch import nn
import torch.nn.functional as F


class GlowStep(nn.Module):
    """actnorm, invertible 1 x 1 convolution (kept as P L U), affine coupling"""

    def __init__(self, c=4):
        super().__init__()
        torch.manual_seed(1807)
        self.loc = nn.Parameter(torch.randn(c))
        self.log_scale = nn.Parameter(0.3 * torch.randn(c))
        self.lower = nn.Parameter(0.5 * torch.randn(c, c))
        self.upper = nn.Parameter(0.5 * torch.randn(c, c))
        self.log_s = nn.Parameter(0.3 * torch.randn(c))
        self.register_buffer("perm", torch.eye(c)[torch.tensor([2, 0, 3, 1])])
        self.net = nn.Sequential(nn.Conv2d(c // 2, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, c, 1))

    def factors(self):
        eye = torch.eye(self.loc.shape[0], dtype=self.loc.dtype)
        return torch.tril(self.lower, -1) + eye, torch.triu(self.upper, 1) + torch.diag(self.log_s.exp())

    def forward(self, x):
        h, w = x.shape[-2:]
        x = (x + self.loc.view(1, -1, 1, 1)) * self.log_scale.exp().view(1, -1, 1, 1)
        logdet = h * w * self.log_scale.sum()
        lo, up = self.factors()
        weight = self.perm @ lo @ up
        x = F.conv2d(x, weight[:, :, None, None])
        logdet = logdet + h * w * torch.slogdet(weight)[1]
        a, b = x.chunk(2, 1)
        raw, shift = self.net(a).chunk(2, 1)
        scale = torch.sigmoid(raw + 2)
        b = (b + shift) * scale
        return torch.cat([a, b], 1), logdet + torch.log(scale).flatten(1).sum(-1)


class GlowStepFactors(GlowStep):
    """The triangular factors one after the other; their determinant is read off the diagonal."""

    def forward(self, x):
        area = x.shape[2] * x.shape[3]
        lo, up = self.factors()
        y = torch.einsum("c,bchw->bchw", self.log_scale.exp(), x + self.loc[:, None, None])
        y = torch.einsum("ij,bjhw->bihw", up, y)
        y = torch.einsum("ij,bjhw->bihw", lo, y)
        y = y[:, [2, 0, 3, 1]]
        half = y.shape[1] // 2
        st = self.net(y[:, :half])
        log_scale = F.logsigmoid(st[:, :half] + 2)
        out = torch.cat([y[:, :half], (y[:, half:] + st[:, half:]) * log_scale.exp()], dim=1)
        return out, area * (self.log_scale + self.log_s).sum() + log_scale.sum((1, 2, 3))


left, right = GlowStep, GlowStepFactors
inputs = (torch.randn(2, 4, 3, 5, generator=torch.Generator().manual_seed(3)),)
