# EQUAL
"""Relative attention of the Conformer (ESPnet): the pad-and-reshape shift against a gather with explicit offsets."""
import math

import torch
from torch import nn


class RelPositionAttention(nn.Module):
    def __init__(self, n_head=2, n_feat=8):
        super().__init__()
        self.d_k, self.h = n_feat // n_head, n_head
        self.linear_q = nn.Linear(n_feat, n_feat)
        self.linear_k = nn.Linear(n_feat, n_feat)
        self.linear_v = nn.Linear(n_feat, n_feat)
        self.linear_out = nn.Linear(n_feat, n_feat)
        self.linear_pos = nn.Linear(n_feat, n_feat, bias=False)
        self.pos_bias_u = nn.Parameter(torch.empty(self.h, self.d_k))
        self.pos_bias_v = nn.Parameter(torch.empty(self.h, self.d_k))
        nn.init.xavier_uniform_(self.pos_bias_u)
        nn.init.xavier_uniform_(self.pos_bias_v)

    def rel_shift(self, x):
        zero_pad = torch.zeros((*x.size()[:3], 1), dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=-1)
        x_padded = x_padded.view(*x.size()[:2], x.size(3) + 1, x.size(2))
        return x_padded[:, :, 1:].view_as(x)[:, :, :, : x.size(-1) // 2 + 1]

    def forward(self, x, pos_emb):
        n = x.size(0)
        q = self.linear_q(x).view(n, -1, self.h, self.d_k)
        k = self.linear_k(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
        v = self.linear_v(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
        p = self.linear_pos(pos_emb).view(pos_emb.size(0), -1, self.h, self.d_k).transpose(1, 2)
        q_u = (q + self.pos_bias_u).transpose(1, 2)
        q_v = (q + self.pos_bias_v).transpose(1, 2)
        matrix_ac = torch.matmul(q_u, k.transpose(-2, -1))
        matrix_bd = self.rel_shift(torch.matmul(q_v, p.transpose(-2, -1)))
        attn = torch.softmax((matrix_ac + matrix_bd) / math.sqrt(self.d_k), dim=-1)
        out = torch.matmul(attn, v).transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.linear_out(out)


class GatherAttention(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.h, self.d_k = src.h, src.d_k
        d = self.h * self.d_k
        self.qkv = nn.Linear(d, 3 * d)
        self.qkv.weight.data = torch.cat([src.linear_q.weight, src.linear_k.weight, src.linear_v.weight]).detach()
        self.qkv.bias.data = torch.cat([src.linear_q.bias, src.linear_k.bias, src.linear_v.bias]).detach()
        self.pos = nn.Linear(d, d, bias=False)
        self.pos.load_state_dict(src.linear_pos.state_dict())
        self.out = nn.Linear(d, d)
        self.out.load_state_dict(src.linear_out.state_dict())
        self.u = nn.Parameter(src.pos_bias_u.detach().clone())
        self.v = nn.Parameter(src.pos_bias_v.detach().clone())

    def forward(self, x, pos_emb):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, self.d_k).unbind(2)
        rel = self.pos(pos_emb).unflatten(-1, (self.h, self.d_k))
        i = torch.arange(t)
        rel = rel[:, (t - 1) - i[:, None] + i[None, :]]         # 1, query, key, head, d
        content = torch.einsum("bihd,bjhd->bhij", q + self.u, k)
        place = torch.einsum("bihd,bijhd->bhij", q + self.v, rel)
        weights = ((content + place) * self.d_k ** -0.5).softmax(-1)
        return self.out(torch.einsum("bhij,bjhd->bihd", weights, v).reshape(b, t, d))


torch.manual_seed(1904)
left = RelPositionAttention()
right = GatherAttention(left)
inputs = (torch.randn(2, 5, 8), torch.randn(1, 9, 8))
