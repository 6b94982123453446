"""The same with the up-projections absorbed, as it is served: attention runs over the latent that the cache holds."""
import torch
from a import DIM, HEADS, NOPE, RANK, ROPE, VALUE, LatentAttention
from torch import nn


class Absorbed(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = LatentAttention()
        q = theirs.q_proj.weight.detach().view(HEADS, NOPE + ROPE, DIM)
        self.wq_nope = nn.Parameter(q[:, :NOPE].reshape(HEADS * NOPE, DIM).clone())
        self.wq_pe = nn.Parameter(q[:, NOPE:].reshape(HEADS * ROPE, DIM).clone())
        down = theirs.kv_a_proj_with_mqa.weight.detach()
        self.w_down, self.wk_pe = nn.Parameter(down[:RANK].clone()), nn.Parameter(down[RANK:].clone())
        self.norm = nn.Parameter(theirs.kv_a_layernorm.weight.detach().clone())
        up = theirs.kv_b_proj.weight.detach().view(HEADS, NOPE + VALUE, RANK)
        self.w_uk, self.w_uv = nn.Parameter(up[:, :NOPE].clone()), nn.Parameter(up[:, NOPE:].clone())
        self.wo = nn.Parameter(theirs.o_proj.weight.detach().view(DIM, HEADS, VALUE).clone())

    def turned(self, x):
        """Rotary angles as complex numbers would do it, written out. x is [batch, time, heads, ROPE]."""
        index = torch.arange(x.shape[1])
        frequency = 100.0 ** (-torch.arange(0, ROPE, 2) / ROPE)
        angle = torch.outer(index, frequency)[:, None]
        pairs = x.unflatten(-1, (-1, 2))
        real, imaginary = pairs.unbind(-1)
        out = torch.empty_like(pairs)
        out[..., 0] = real * torch.cos(angle) - imaginary * torch.sin(angle)
        out[..., 1] = imaginary * torch.cos(angle) + real * torch.sin(angle)
        return out.flatten(-2)

    def forward(self, x):
        batch, time, _ = x.shape
        latent = x @ self.w_down.t()
        latent = latent * torch.rsqrt(latent.pow(2).mean(-1, keepdim=True) + 1e-6) * self.norm
        k_pe = self.turned((x @ self.wk_pe.t()).unsqueeze(2)).squeeze(2)
        q_nope = (x @ self.wq_nope.t()).unflatten(-1, (HEADS, NOPE))
        q_pe = self.turned((x @ self.wq_pe.t()).unflatten(-1, (HEADS, ROPE)))
        q_latent = torch.einsum("bthd,hdc->bthc", q_nope, self.w_uk)
        scores = torch.einsum("bthc,bsc->bths", q_latent, latent) + torch.einsum("bthr,bsr->bths", q_pe, k_pe)
        scores = scores / (NOPE + ROPE) ** 0.5
        position = torch.arange(time)
        seen = position[None, :] <= position[:, None]
        scores = torch.where(seen[:, None, :], scores, float("-inf"))
        mixed = torch.einsum("bths,bsc->bthc", scores.softmax(-1), latent)
        value = torch.einsum("bthc,hvc->bthv", mixed, self.w_uv)
        return torch.einsum("bthv,dhv->btd", value, self.wo)
