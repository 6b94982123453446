# DIFFERENT: right's window is one key too long: start = max(i - WINDOW, 0) instead of i - WINDOW + 1
"""StreamingLLM: attention to the first tokens (sinks) and to a window; HF's way of masks, and our kernel's reference."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
D, H, KV, SINKS, WINDOW = 24, 4, 2, 2, 4


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, D, bias=False)
        self.k_proj = nn.Linear(D, D * KV // H, bias=False)
        self.v_proj = nn.Linear(D, D * KV // H, bias=False)
        self.o_proj = nn.Linear(D, D, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, H, -1).transpose(1, 2)
        k = self.k_proj(x).view(b, t, KV, -1).transpose(1, 2).repeat_interleave(H // KV, 1)
        v = self.v_proj(x).view(b, t, KV, -1).transpose(1, 2).repeat_interleave(H // KV, 1)
        i = torch.arange(t)[:, None]
        j = torch.arange(t)[None, :]
        keep = (j <= i) & ((j > i - WINDOW) | (j < SINKS))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, D))


class Reference(nn.Module):
    """Query by query, with the keys that the ring buffer would hold."""

    def __init__(self, attn):
        super().__init__()
        self.attn = attn

    def forward(self, x):
        a = self.attn
        b, t, _ = x.shape
        hd = D // H
        q = a.q_proj(x).view(b, t, KV, H // KV, hd)
        k = a.k_proj(x).view(b, t, KV, hd)
        v = a.v_proj(x).view(b, t, KV, hd)
        rows = []
        for i in range(t):
            start = max(i - WINDOW, 0)
            if start <= SINKS:
                ks, vs = k[:, :i + 1], v[:, :i + 1]
            else:
                ks = torch.cat([k[:, :SINKS], k[:, start:i + 1]], 1)
                vs = torch.cat([v[:, :SINKS], v[:, start:i + 1]], 1)
            s = torch.einsum("bngd,bsnd->bngs", q[:, i], ks) / hd ** 0.5
            rows.append(torch.einsum("bngs,bsnd->bngd", s.softmax(-1), vs).flatten(1))
        return a.o_proj(torch.stack(rows, 1))


left = Attn().eval()
right = Reference(left).eval()
inputs = (torch.randn(2, 10, D),)
