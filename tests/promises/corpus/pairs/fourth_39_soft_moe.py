# DIFFERENT: wrong axis: right's dispatch softmax runs over slots (dim=2) instead of tokens (dim=1)
"""Soft MoE: lucidrains-like reference and our vectorised layer."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import einsum, rearrange

torch.manual_seed(39)
D, E, S, HID = 10, 3, 2, 14


class SoftMoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        self.slot_embeds = nn.Parameter(torch.randn(E, S, D))
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(D, HID), nn.GELU(), nn.Linear(HID, D)) for _ in range(E))

    def forward(self, x):
        x = self.norm(x)
        logits = einsum(x, self.slot_embeds, "b n d, e s d -> b n e s")
        dispatch_weights = logits.softmax(dim=1)
        combine_weights = rearrange(logits, "b n e s -> b n (e s)").softmax(dim=-1)
        slots = einsum(x, dispatch_weights, "b n d, b n e s -> e b s d")
        out = torch.stack([f(s) for s, f in zip(slots, self.experts)])
        out = rearrange(out, "e b s d -> b (e s) d")
        return einsum(out, combine_weights, "b s d, b n s -> b n d")


class Vectorised(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.norm = ref.norm
        self.phi = nn.Parameter(ref.slot_embeds.detach().reshape(E * S, D).T.contiguous())
        first, second = [f[0] for f in ref.experts], [f[2] for f in ref.experts]
        cat = lambda mods, name: nn.Parameter(torch.stack([getattr(m, name).detach() for m in mods]))
        self.w1, self.b1, self.w2, self.b2 = cat(first, "weight"), cat(first, "bias"), cat(second, "weight"), cat(second, "bias")

    def forward(self, x):
        b, n, _ = x.shape
        x = self.norm(x)
        z = x @ self.phi
        dispatch = F.softmax(z, dim=2)
        combine = F.softmax(z, dim=2)
        slots = dispatch.transpose(1, 2) @ x
        slots = slots.view(b, E, S, D)
        h = F.gelu(torch.einsum("besd,ehd->besh", slots, self.w1) + self.b1[:, None])
        y = torch.einsum("besh,edh->besd", h, self.w2) + self.b2[:, None]
        return combine @ y.reshape(b, E * S, D)


left = SoftMoE().eval()
right = Vectorised(left).eval()
inputs = (torch.randn(2, 7, D),)
