# EQUAL: GQA with q/k/v projections and repeat_interleave vs one fused grouped qkv (GPT-NeoX/InternLM layout) and 5-d einsum
import math
import torch
from torch import nn
import torch.nn.functional as F

DIM, HEADS, KV, HD = 24, 6, 2, 4


class HFStyle(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(DIM, HEADS * HD, bias=True)
        self.k_proj = nn.Linear(DIM, KV * HD, bias=True)
        self.v_proj = nn.Linear(DIM, KV * HD, bias=True)
        self.o_proj = nn.Linear(HEADS * HD, DIM, bias=False)

    def forward(self, hidden_states):
        b, t, _ = hidden_states.shape
        q = self.q_proj(hidden_states).view(b, t, HEADS, HD).transpose(1, 2)
        k = self.k_proj(hidden_states).view(b, t, KV, HD).transpose(1, 2)
        v = self.v_proj(hidden_states).view(b, t, KV, HD).transpose(1, 2)
        k = k.repeat_interleave(HEADS // KV, dim=1)
        v = v.repeat_interleave(HEADS // KV, dim=1)
        attn = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(HD)
        mask = torch.full((t, t), float("-inf")).triu(1)
        attn = F.softmax(attn + mask.to(attn.dtype), dim=-1)
        return self.o_proj(torch.matmul(attn, v).transpose(1, 2).reshape(b, t, -1))


class Wqkv(nn.Module):
    """InternLM2 layout: for every kv head its group of queries, then k, then v."""

    def __init__(self, src):
        super().__init__()
        g = HEADS // KV
        self.wqkv = nn.Linear(DIM, (HEADS + 2 * KV) * HD)
        self.wo = nn.Linear(HEADS * HD, DIM, bias=False)

        def pack(q, k, v):
            rest = q.shape[1:]
            q = q.view(KV, g, HD, *rest)
            k = k.view(KV, 1, HD, *rest)
            v = v.view(KV, 1, HD, *rest)
            return torch.cat([q, k, v], 1).reshape(-1, *rest)

        with torch.no_grad():
            self.wqkv.weight.copy_(pack(src.q_proj.weight, src.k_proj.weight, src.v_proj.weight))
            self.wqkv.bias.copy_(pack(src.q_proj.bias, src.k_proj.bias, src.v_proj.bias))
            self.wo.weight.copy_(src.o_proj.weight)

    def forward(self, x):
        b, t, _ = x.shape
        g = HEADS // KV
        qkv = self.wqkv(x).view(b, t, KV, g + 2, HD)
        q, k, v = qkv[..., :g, :], qkv[..., -2, :], qkv[..., -1, :]
        s = torch.einsum("btkgd,bskd->bkgts", q * HD**-0.5, k)
        keep = torch.ones(t, t, dtype=torch.bool).tril()
        s = s.masked_fill(~keep, torch.finfo(s.dtype).min)
        p = s.softmax(-1)
        o = torch.einsum("bkgts,bskd->btkgd", p, v)
        return self.wo(o.flatten(2))


left = HFStyle()
right = Wqkv(left)


def inputs():
    return (torch.randn(2, 7, DIM),)
