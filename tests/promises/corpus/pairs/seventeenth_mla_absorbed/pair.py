"""Multi-head latent attention: the form for prompts and the absorbed form for decoding."""
import torch
from torch import nn

D, H, NOPE, ROPE, V, LORA = 24, 3, 6, 4, 5, 10
B, T = 2, 6


def rms(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rope(x, cos, sin):
    """x: [B, H, T, ROPE], neighbours make a pair."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


def angles(t, like):
    inv = 1.0 / (10000 ** (torch.arange(0, ROPE, 2).to(like.dtype) / ROPE))
    a = torch.outer(torch.arange(t).to(like.dtype), inv)
    return a.cos(), a.sin()


class MLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * (NOPE + ROPE), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(D, LORA + ROPE, bias=False)
        self.kv_a_layernorm = nn.Parameter(1 + 0.1 * torch.randn(LORA))
        self.kv_b_proj = nn.Linear(LORA, H * (NOPE + V), bias=False)
        self.o_proj = nn.Linear(H * V, D, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        cos, sin = angles(t, x)
        q = self.q_proj(x).view(b, t, H, NOPE + ROPE).transpose(1, 2)
        q_nope, q_pe = torch.split(q, [NOPE, ROPE], dim=-1)
        compressed, k_pe = torch.split(self.kv_a_proj_with_mqa(x), [LORA, ROPE], dim=-1)
        kv = self.kv_b_proj(rms(compressed, self.kv_a_layernorm)).view(b, t, H, NOPE + V).transpose(1, 2)
        k_nope, value = torch.split(kv, [NOPE, V], dim=-1)
        q_pe, k_pe = rope(q_pe, cos, sin), rope(k_pe.view(b, 1, t, ROPE), cos, sin)
        query = torch.cat([q_nope, q_pe], dim=-1)
        key = torch.cat([k_nope, k_pe.expand(-1, H, -1, -1)], dim=-1)
        scores = query @ key.transpose(-1, -2) * (NOPE + ROPE) ** -0.5
        mask = torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        out = torch.softmax(scores + mask, dim=-1) @ value
        return self.o_proj(out.transpose(1, 2).reshape(b, t, H * V))


class AbsorbedMLA(nn.Module):
    def __init__(self, mla):
        super().__init__()
        self.q_proj, self.kv_a, self.norm, self.o_proj = mla.q_proj, mla.kv_a_proj_with_mqa, mla.kv_a_layernorm, mla.o_proj
        w = mla.kv_b_proj.weight.detach().view(H, NOPE + V, LORA)
        self.w_uk = nn.Parameter(w[:, :NOPE].contiguous())                       # [H, NOPE, LORA]
        self.w_uv = nn.Parameter(w[:, NOPE:].transpose(1, 2).contiguous())       # [H, LORA, V]

    def forward(self, x):
        b, t, _ = x.shape
        cos, sin = angles(t, x)
        q = self.q_proj(x).view(b, t, H, NOPE + ROPE)
        q_nope, q_pe = q[..., :NOPE], rope(q[..., NOPE:].transpose(1, 2), cos, sin)
        q_latent = torch.einsum("bthn,hnl->bhtl", q_nope, self.w_uk)
        latent, k_pe = self.kv_a(x).split([LORA, ROPE], dim=-1)
        cache = rms(latent, self.norm)
        k_pe = rope(k_pe[:, None], cos, sin)[:, 0]
        scores = torch.einsum("bhtl,bsl->bhts", q_latent, cache) + torch.einsum("bhtr,bsr->bhts", q_pe, k_pe)
        scores = scores * (NOPE + ROPE) ** -0.5
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        probs = scores.masked_fill(future, float("-inf")).softmax(-1)
        context = torch.einsum("bhts,bsl->bhtl", probs, cache)
        return self.o_proj((context @ self.w_uv).transpose(1, 2).flatten(2))


left = MLA()
right = AbsorbedMLA(left)


def inputs():
    return (torch.randn(B, T, D),)
