# EQUAL
import torch
from torch import nn
import torch.nn.functional as F

DIM, HEADS, NOPE, ROPE, VDIM, RANK = 12, 2, 4, 4, 5, 6


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class MLA(nn.Module):
    """Multi-head latent attention; keys and values are made from the latent."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, HEADS * (NOPE + ROPE), bias=False)
        self.wkv_a = nn.Linear(DIM, RANK + ROPE, bias=False)
        self.kv_norm = nn.RMSNorm(RANK, eps=1e-6)
        self.wkv_b = nn.Linear(RANK, HEADS * (NOPE + VDIM), bias=False)
        self.wo = nn.Linear(HEADS * VDIM, DIM, bias=False)
        nn.init.normal_(self.kv_norm.weight)
        self.scale = (NOPE + ROPE) ** -0.5

    def parts(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, HEADS, NOPE + ROPE)
        q_nope, q_pe = q.split([NOPE, ROPE], dim=-1)
        kv, k_pe = self.wkv_a(x).split([RANK, ROPE], dim=-1)
        q_pe = rotate(q_pe, cos[:, None], sin[:, None])
        k_pe = rotate(k_pe, cos, sin)
        return q_nope, q_pe, self.kv_norm(kv), k_pe

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q_nope, q_pe, latent, k_pe = self.parts(x, cos, sin)
        kv = self.wkv_b(latent).view(b, t, HEADS, NOPE + VDIM)
        k_nope, v = kv.split([NOPE, VDIM], dim=-1)
        k = torch.cat([k_nope, k_pe.unsqueeze(2).expand(-1, -1, HEADS, -1)], dim=-1)
        q = torch.cat([q_nope, q_pe], dim=-1)
        scores = torch.einsum("bshd,bthd->bsht", q, k) * self.scale
        mask = torch.full((t, t), float("-inf"), dtype=x.dtype).triu_(1)
        scores = scores + mask.unsqueeze(1)
        y = torch.einsum("bsht,bthd->bshd", scores.softmax(-1), v)
        return self.wo(y.flatten(2))


class AbsorbedMLA(MLA):
    """The up projections are absorbed into query and output: attention runs on the latent cache."""

    def forward(self, x, cos, sin):
        q_nope, q_pe, latent, k_pe = self.parts(x, cos, sin)
        wkv_b = self.wkv_b.weight.view(HEADS, NOPE + VDIM, RANK)
        q_lat = torch.einsum("bshd,hdc->bhsc", q_nope, wkv_b[:, :NOPE])
        query = torch.cat([q_lat, q_pe.transpose(1, 2)], dim=-1)
        cache = torch.cat([latent, k_pe], dim=-1).unsqueeze(1)                 # one shared head
        ctx = F.scaled_dot_product_attention(
            query, cache.expand(-1, HEADS, -1, -1), latent.unsqueeze(1).expand(-1, HEADS, -1, -1),
            is_causal=True, scale=self.scale,
        )
        y = torch.einsum("bhsc,hdc->bshd", ctx, wkv_b[:, NOPE:])
        return F.linear(y.reshape(*x.shape[:2], -1), self.wo.weight)


torch.manual_seed(236)
left = MLA()
right = AbsorbedMLA()
right.load_state_dict(left.state_dict())


def inputs():
    torch.manual_seed(67)
    angle = torch.randn(5, ROPE // 2)
    return torch.randn(2, 5, DIM), angle.cos(), angle.sin()
