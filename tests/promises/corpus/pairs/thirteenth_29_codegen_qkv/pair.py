"""CodeGen's attention: a projection packed for four TPU cores, ported to three projections."""
import torch
from torch import nn
import torch.nn.functional as F

DIM, HEADS, MP = 16, 4, 4
HEAD_DIM = DIM // HEADS


class CodeGenAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(DIM, DIM * 3, bias=False)
        self.out_proj = nn.Linear(DIM, DIM, bias=False)

    def split_heads(self, x):
        x = x.reshape(x.shape[:-1] + (HEADS // MP, HEAD_DIM))
        return x.reshape(x.shape[:-3] + (-1, HEAD_DIM))

    def forward(self, x):
        qkv = self.qkv_proj(x)
        qkv_split = qkv.reshape(qkv.shape[:-1] + (MP, -1))
        query, value, key = torch.split(qkv_split, HEAD_DIM * HEADS // MP, dim=-1)
        query = self.split_heads(query).permute(0, 2, 1, 3)
        key = self.split_heads(key).permute(0, 2, 1, 3)
        value = self.split_heads(value).permute(0, 2, 1, 3)

        t = x.shape[1]
        weights = torch.matmul(query, key.transpose(-1, -2)) / HEAD_DIM**0.5
        causal = torch.tril(torch.ones(t, t, dtype=torch.bool))
        weights = torch.where(causal, weights, torch.finfo(weights.dtype).min)
        attn = torch.matmul(weights.softmax(-1), value)
        return self.out_proj(attn.permute(0, 2, 1, 3).reshape(x.shape))


class Port(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        packed = theirs.qkv_proj.weight.detach().view(MP, 3, DIM // MP, DIM)
        q, k, v = (packed[:, i].reshape(DIM, DIM) for i in range(3))
        self.q = nn.Parameter(q.clone())
        self.k = nn.Parameter(k.clone())
        self.v = nn.Parameter(v.clone())
        self.o = nn.Parameter(theirs.out_proj.weight.detach().clone())

    def forward(self, x):
        q, k, v = (
            F.linear(x, w).unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2) for w in (self.q, self.k, self.v)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.linear(y.transpose(1, 2).flatten(2), self.o)


torch.manual_seed(0)
left = CodeGenAttention()
right = Port(left)
inputs = (torch.randn(2, 5, DIM),)
