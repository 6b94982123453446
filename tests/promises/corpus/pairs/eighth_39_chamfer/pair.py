"""Point-cloud decoder with a Chamfer loss."""
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, latent=6, n=8):
        super().__init__()
        self.n = n
        self.net = nn.Sequential(nn.Linear(latent, 20), nn.LeakyReLU(0.1), nn.Linear(20, 3 * n))

    def cloud(self, z):
        return self.net(z).view(z.shape[0], self.n, 3)


class A(Decoder):
    def forward(self, z, target):
        pred = self.cloud(z)
        d = ((pred[:, :, None] - target[:, None]) ** 2).sum(-1)
        return d.min(2).values.mean(1) + d.min(1).values.mean(1)


class B(Decoder):
    def forward(self, z, target):
        pred = self.cloud(z)
        d = pred.pow(2).sum(-1)[:, :, None] + target.pow(2).sum(-1)[:, None] - 2 * pred @ target.transpose(1, 2)
        fwd = d.amin(dim=-1).mean(dim=-1)
        d_back = d.transpose(1, 2).contiguous()
        bwd = d_back.amin(dim=1).mean(dim=-1)
        return fwd + bwd


torch.manual_seed(1)
left = A()
right = B()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(3, 6), torch.randn(3, 10, 3))
