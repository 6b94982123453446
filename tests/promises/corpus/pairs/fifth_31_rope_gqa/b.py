import torch
from torch import nn

from a import program as original


def to_pairs(weight, heads):
    """From halves to neighbours: row 2i of a head is its row i, row 2i + 1 its row i + d/2."""
    rows, dim = weight.shape
    return weight.view(heads, 2, rows // heads // 2, dim).transpose(1, 2).reshape(rows, dim).contiguous()


class MetaAttention(nn.Module):
    """Meta's own: pairs of neighbours are complex numbers; keys and values stay grouped."""

    def __init__(self, hf):
        super().__init__()
        self.groups, self.share, self.dim = hf.kv_heads, hf.heads // hf.kv_heads, hf.head_dim
        self.wq = nn.Parameter(to_pairs(hf.q_proj.weight.detach(), hf.heads))
        self.wk = nn.Parameter(to_pairs(hf.k_proj.weight.detach(), hf.kv_heads))
        self.wv = nn.Parameter(hf.v_proj.weight.detach().clone())
        self.wo = nn.Parameter(hf.o_proj.weight.detach().clone())

    def turn(self, x, angles):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).flatten(-2)

    def forward(self, x, position_ids):
        b, t, _ = x.shape
        q = (x @ self.wq.T).view(b, t, self.groups, self.share, self.dim)
        k = (x @ self.wk.T).view(b, t, self.groups, self.dim)
        v = (x @ self.wv.T).view(b, t, self.groups, self.dim)
        freqs = 10000.0 ** (-torch.arange(0, self.dim, 2, dtype=x.dtype) / self.dim)
        angles = torch.einsum("bt,f->btf", position_ids.to(x.dtype), freqs)
        q, k = self.turn(q, angles[:, :, None, None]), self.turn(k, angles[:, :, None])
        scores = torch.einsum("btgsd,bugd->bgstu", q, k) / self.dim**0.5
        seen = torch.arange(t)[:, None] >= torch.arange(t)
        probs = torch.where(seen, scores, float("-inf")).softmax(dim=-1)
        return torch.einsum("bgstu,bugd->btgsd", probs, v).reshape(b, t, -1) @ self.wo.T


program = MetaAttention(original).eval()
