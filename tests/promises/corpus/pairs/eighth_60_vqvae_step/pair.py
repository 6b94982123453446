"""VQ-VAE: loss and gradients of encoder, codebook and decoder, with the straight-through estimator."""
import torch
import torch.nn.functional as F
from torch import nn

BETA = 0.25


class VQVAE(nn.Module):
    def __init__(self, d=6, z=3, k=7):
        super().__init__()
        self.enc, self.dec = nn.Linear(d, z), nn.Linear(z, d)
        self.codebook = nn.Parameter(torch.randn(k, z))

    def forward(self, x):
        z = self.enc(x)
        d = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.codebook.t() + self.codebook.pow(2).sum(1)
        idx = d.detach().argmin(1)
        q = self.codebook[idx]
        vq = F.mse_loss(q, z.detach())
        commit = F.mse_loss(z, q.detach())
        st = z + (q - z).detach()
        loss = F.mse_loss(self.dec(st), x) + vq + BETA * commit
        grads = torch.autograd.grad(loss, (self.enc.weight, self.enc.bias, self.codebook, self.dec.weight, self.dec.bias))
        return loss.detach(), idx, grads


class Sonnet(nn.Module):
    """After the TensorFlow version."""

    def __init__(self, src):
        super().__init__()
        self.w_e, self.b_e = nn.Parameter(src.enc.weight.detach().t().clone()), nn.Parameter(src.enc.bias.detach().clone())
        self.w_d, self.b_d = nn.Parameter(src.dec.weight.detach().t().clone()), nn.Parameter(src.dec.bias.detach().clone())
        self.emb = nn.Parameter(src.codebook.detach().t().clone())                 # z, K

    def forward(self, x):
        ze = x @ self.w_e + self.b_e
        with torch.no_grad():
            dist = (ze[:, :, None] - self.emb[None]).square().sum(1)
            code = torch.argmax(-dist, dim=1)
        zq = self.emb.t()[code]
        e_latent = (zq.detach() - ze).square().mean()
        q_latent = (zq - ze.detach()).square().mean()
        recon = (ze + (zq - ze).detach()) @ self.w_d + self.b_d
        loss = (recon - x).square().mean() + e_latent + BETA * q_latent
        we, be, emb, wd, bd = torch.autograd.grad(loss, (self.w_e, self.b_e, self.emb, self.w_d, self.b_d))
        return loss.detach(), code, (we.t(), be, emb.t(), wd.t(), bd)


torch.manual_seed(0)
left = VQVAE()
right = Sonnet(left)
inputs = (torch.randn(8, 6),)
