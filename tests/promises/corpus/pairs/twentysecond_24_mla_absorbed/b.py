"""The absorbed form that engines decode with: queries go down into the latent, values come up after the attention."""

import torch
from a import MLA
from torch import nn
from torch.nn import functional as F


class AbsorbedMLA(nn.Module):
    def __init__(self):
        super().__init__()
        t = MLA()
        self.H, self.R, self.P, self.scale = t.heads, t.kv_rank, t.rope, t.scale
        self.q_a, self.q_norm_weight = t.wq_a.weight, t.q_norm.weight
        q_b = t.wq_b.weight.detach().view(self.H, t.nope + t.rope, -1)
        self.q_b_nope = nn.Parameter(q_b[:, : t.nope].clone())
        # rotary part: evens first, then odds, so that halves can be rotated
        halves = torch.cat([torch.arange(0, t.rope, 2), torch.arange(1, t.rope, 2)])
        self.q_b_rope = nn.Parameter(q_b[:, t.nope :][:, halves].clone())
        self.kv_a = nn.Parameter(t.wkv_a.weight.detach()[: t.kv_rank].clone())
        self.k_rope = nn.Parameter(t.wkv_a.weight.detach()[t.kv_rank :][halves].clone())
        self.kv_norm_weight = t.kv_norm.weight
        kv_b = t.wkv_b.weight.detach().view(self.H, t.nope + t.v, -1)
        self.w_uk = nn.Parameter(kv_b[:, : t.nope].clone())                      # [H, nope, R]
        self.w_uv = nn.Parameter(kv_b[:, t.nope :].transpose(1, 2).clone())      # [H, R, v]
        self.wo = t.wo

    def rotate_halves(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        T = x.shape[1]
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.P, 2) / self.P))
        angles = torch.arange(T)[:, None] * freqs
        cos, sin = angles.cos(), angles.sin()
        c_q = F.rms_norm(x @ self.q_a.t(), self.q_norm_weight.shape, self.q_norm_weight, 1e-6)
        q_nope = torch.einsum("btr,hdr->bhtd", c_q, self.q_b_nope)
        q_rope = self.rotate_halves(torch.einsum("btr,hdr->bhtd", c_q, self.q_b_rope), cos, sin)
        cache = F.rms_norm(x @ self.kv_a.t(), (self.R,), self.kv_norm_weight, 1e-6)   # [B, T, R]: all that is kept
        key_rope = self.rotate_halves(x @ self.k_rope.t(), cos, sin)
        q_latent = q_nope @ self.w_uk                                            # [B, H, T, R]
        scores = q_latent @ cache.mT[:, None] + q_rope @ key_rope.mT[:, None]
        later = torch.arange(T)[None, :] > torch.arange(T)[:, None]
        probs = torch.softmax((scores * self.scale).masked_fill(later, -torch.inf), -1)
        out = probs @ cache[:, None] @ self.w_uv                                 # [B, H, T, v]
        return self.wo(out.transpose(1, 2).flatten(2))
