"""The same with the up-projection absorbed into queries and outputs: only the latent is cached."""
import torch
from torch import nn
from torch.nn import functional as F

from a import HEADS, NOPE, RANK, ROPE, VALUE, WIDTH, LatentAttention, rope


class Absorbed(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = LatentAttention()
        self.q_proj, self.kv_a, self.o_proj = theirs.q_proj, theirs.kv_a, theirs.o_proj
        self.kv_norm = theirs.kv_norm
        up = theirs.kv_b.weight.detach().view(HEADS, NOPE + VALUE, RANK)
        self.w_uk = nn.Parameter(up[:, :NOPE].contiguous())
        self.w_uv = nn.Parameter(up[:, NOPE:].transpose(1, 2).contiguous())

    def forward(self, x):
        batch, length, _ = x.shape
        positions = torch.arange(length, device=x.device)
        q = self.q_proj(x).view(batch, length, HEADS, NOPE + ROPE)
        q_nope, q_rope = q[..., :NOPE], q[..., NOPE:]
        compressed = self.kv_a(x)
        latent = F.rms_norm(compressed[..., :RANK], (RANK,), self.kv_norm, 1e-6)
        k_rope = rope(compressed[..., RANK:], positions)
        q_rope = rope(q_rope.transpose(1, 2), positions)
        q_latent = torch.einsum("bthd,hdr->bhtr", q_nope, self.w_uk)
        query = torch.cat((q_latent, q_rope), dim=-1)
        cache = torch.cat((latent, k_rope), dim=-1)
        scores = torch.einsum("bhtc,bsc->bhts", query, cache) / (NOPE + ROPE) ** 0.5
        allowed = positions[:, None] >= positions[None, :]
        weights = torch.softmax(torch.where(allowed, scores, float("-inf")), dim=-1)
        context = torch.einsum("bhts,bsr->bhtr", weights, latent)
        out = torch.einsum("bhtr,hrv->bthv", context, self.w_uv).flatten(2)
        return self.o_proj(out)
