"""A PaLM-style parallel block: separate projections, and the fused form used for inference."""
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)
DIM, HEADS, HEAD, FF = 16, 2, 6, 20


class Parallel(nn.Module):
    """x + attn(norm(x)) + mlp(norm(x)), one key/value head."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        nn.init.normal_(self.norm.weight, 1.0, 0.2)
        nn.init.normal_(self.norm.bias, 0.0, 0.2)
        self.q_proj = nn.Linear(DIM, HEADS * HEAD, bias=False)
        self.k_proj = nn.Linear(DIM, HEAD, bias=False)
        self.v_proj = nn.Linear(DIM, HEAD, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD, DIM, bias=False)
        self.gate_proj = nn.Linear(DIM, FF, bias=False)
        self.up_proj = nn.Linear(DIM, FF, bias=False)
        self.down_proj = nn.Linear(FF, DIM, bias=False)

    def attention(self, h):
        b, t, _ = h.shape
        q = self.q_proj(h).view(b, t, HEADS, HEAD).transpose(1, 2)
        k = self.k_proj(h).unsqueeze(1)
        v = self.v_proj(h).unsqueeze(1)
        s = q @ k.transpose(-1, -2) / math.sqrt(HEAD)
        mask = torch.ones(t, t, dtype=torch.bool, device=h.device).triu(1)
        p = s.masked_fill(mask, float("-inf")).softmax(-1)
        return self.o_proj((p @ v).transpose(1, 2).reshape(b, t, HEADS * HEAD))

    def mlp(self, h):
        return self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))

    def forward(self, x):
        h = self.norm(x)
        return x + self.attention(h) + self.mlp(h)


class FusedParallel(nn.Module):
    def __init__(self):
        super().__init__()
        self.splits = (HEADS * HEAD, HEAD, HEAD, FF, FF)
        self.ln = nn.LayerNorm(DIM)
        self.wi = nn.Parameter(torch.empty(DIM, sum(self.splits)))
        self.wo = nn.Parameter(torch.empty(HEADS * HEAD + FF, DIM))

    @classmethod
    def convert(cls, sd):
        m = cls()
        m.load_state_dict({
            "ln.weight": sd["norm.weight"],
            "ln.bias": sd["norm.bias"],
            "wi": torch.cat([sd[f"{n}_proj.weight"] for n in ("q", "k", "v", "up", "gate")]).T,
            "wo": torch.cat([sd["o_proj.weight"], sd["down_proj.weight"]], dim=1).T,
        })
        return m

    def forward(self, x):
        q, k, v, up, gate = (self.ln(x) @ self.wi).split(self.splits, dim=-1)
        q = q.unflatten(-1, (HEADS, HEAD))
        s = torch.einsum("bihd,bjd->bhij", q, k) * HEAD ** -0.5
        i = torch.arange(x.size(1), device=x.device)
        s = torch.where(i[:, None] >= i[None, :], s, torch.full_like(s, float("-inf")))
        ctx = torch.einsum("bhij,bjd->bihd", torch.softmax(s, dim=-1), v).flatten(-2)
        return x + torch.cat([ctx, gate * torch.sigmoid(gate) * up], dim=-1) @ self.wo


left = Parallel().eval()
right = FusedParallel.convert(left.state_dict()).eval()
inputs = (torch.randn(2, 5, DIM),)
