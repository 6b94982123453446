"""A layer of Flamingo's resampler; at serving time the latents' side does not depend on the batch."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, HEADS, D, LATENTS = 10, 2, 4, 3


class Resampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(LATENTS, DIM))
        self.norm_media, self.norm_latents = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        for norm in (self.norm_media, self.norm_latents):
            nn.init.normal_(norm.weight, 1.0, 0.3)
            nn.init.normal_(norm.bias, 0.0, 0.3)
        self.to_q = nn.Linear(DIM, HEADS * D, bias=False)
        self.to_kv = nn.Linear(DIM, 2 * HEADS * D, bias=False)
        self.to_out = nn.Linear(HEADS * D, DIM, bias=False)

    def forward(self, media):
        latents = self.latents.unsqueeze(0).expand(media.shape[0], -1, -1)
        normed = self.norm_latents(latents)
        q = self.to_q(normed)
        k, v = self.to_kv(torch.cat([self.norm_media(media), normed], dim=1)).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (HEADS, D)).transpose(1, 2) for t in (q, k, v))
        sim = q * D**-0.5 @ k.transpose(-1, -2)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        y = sim.softmax(dim=-1) @ v
        return latents + self.to_out(y.transpose(1, 2).flatten(2))


class Serving(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Resampler()

    def forward(self, media):
        m = self.base
        normed = F.layer_norm(m.latents, (DIM,), m.norm_latents.weight, m.norm_latents.bias)
        q = m.to_q(normed).view(LATENTS, HEADS, D)
        k_own, v_own = m.to_kv(normed).view(LATENTS, 2, HEADS, D).unbind(1)
        kernel = m.to_kv.weight * m.norm_media.weight
        kv = F.linear(F.layer_norm(media, (DIM,)), kernel, m.to_kv.weight @ m.norm_media.bias)
        k, v = kv.unflatten(-1, (2, HEADS, D)).unbind(2)
        far = torch.einsum("lhd,bnhd->bhln", q, k) / D**0.5
        near = torch.einsum("lhd,mhd->hlm", q, k_own).expand(media.shape[0], -1, -1, -1) / D**0.5
        p, p_own = torch.cat([far, near], -1).softmax(-1).split([media.shape[1], LATENTS], -1)
        y = torch.einsum("bhln,bnhd->blhd", p, v) + torch.einsum("bhlm,mhd->blhd", p_own, v_own)
        return m.latents + y.flatten(2) @ m.to_out.weight.T


def left():
    return Resampler()


def right():
    return Serving()


def inputs():
    return (torch.randn(2, 5, DIM),)
