# EQUAL.
"""Cross attention with one shared kv head and a memory padding mask: SDPA vs a loop over heads. EQUAL
(rows always have at least one visible key in practice)."""
import torch
from torch import nn
from torch.nn import functional as F


class CrossMQA(nn.Module):
    def __init__(self, dim=20, mem=14, heads=4, hd=5):
        super().__init__()
        self.heads, self.hd = heads, hd
        self.to_q = nn.Linear(dim, heads * hd)
        self.to_kv = nn.Linear(mem, 2 * hd)
        self.out = nn.Linear(heads * hd, dim)

    def forward(self, x, memory, keep):
        b, t, _ = x.shape
        q = self.to_q(x).reshape(b, t, self.heads, self.hd).transpose(1, 2)
        k, v = self.to_kv(memory).chunk(2, -1)
        k = k[:, None].expand(-1, self.heads, -1, -1)
        v = v[:, None].expand(-1, self.heads, -1, -1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        return self.out(y.transpose(1, 2).flatten(-2))


class HeadByHead(nn.Module):
    def __init__(self, src: CrossMQA):
        super().__init__()
        hd = src.hd
        self.scale = hd ** -0.5
        self.q = nn.ModuleList()
        self.o = nn.ModuleList()
        for h in range(src.heads):
            lin = nn.Linear(src.to_q.in_features, hd)
            lin.weight.data = src.to_q.weight.data[h * hd:(h + 1) * hd].clone()
            lin.bias.data = src.to_q.bias.data[h * hd:(h + 1) * hd].clone()
            self.q.append(lin)
            o = nn.Linear(hd, src.out.out_features, bias=False)
            o.weight.data = src.out.weight.data[:, h * hd:(h + 1) * hd].clone()
            self.o.append(o)
        self.k = nn.Linear(src.to_kv.in_features, hd)
        self.v = nn.Linear(src.to_kv.in_features, hd)
        self.k.weight.data, self.v.weight.data = [w.clone() for w in src.to_kv.weight.data.split(hd)]
        self.k.bias.data, self.v.bias.data = [w.clone() for w in src.to_kv.bias.data.split(hd)]
        self.out_bias = nn.Parameter(src.out.bias.data.clone())

    def forward(self, x, memory, keep):
        k, v = self.k(memory), self.v(memory)
        total = self.out_bias
        for q, o in zip(self.q, self.o):
            s = torch.einsum("btd,bsd->bts", q(x), k) * self.scale
            s = s.masked_fill(~keep[:, None], float("-inf"))
            total = total + o(s.softmax(-1) @ v)
        return total


left = CrossMQA()
right = HeadByHead(left)


def inputs():
    keep = torch.tensor([[True] * 6 + [False] * 3, [True] * 9])
    return dict(x=torch.randn(2, 5, 20), memory=torch.randn(2, 9, 14), keep=keep)
