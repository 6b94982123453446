"""The same layer in an engine: separate projections, relative distances −slope·(i − j) as in the ALiBi paper, einsum."""

import torch
from a import BloomAttention
from torch import nn
from torch.nn import functional as F


class AlibiAttention(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = BloomAttention()
        self.H, self.D = theirs.heads, theirs.head_dim
        weight = theirs.query_key_value.weight.detach().view(self.H, 3, self.D, -1)
        bias = theirs.query_key_value.bias.detach().view(self.H, 3, self.D)
        hidden = self.H * self.D
        for n, name in enumerate(("q_proj", "k_proj", "v_proj")):
            layer = nn.Linear(hidden, hidden)
            layer.weight.data = weight[:, n].reshape(hidden, hidden).clone()
            layer.bias.data = bias[:, n].reshape(hidden).clone()
            setattr(self, name, layer)
        self.o_proj = theirs.dense
        self.norm = theirs.input_layernorm

    def split(self, y):
        return y.unflatten(-1, (self.H, self.D))

    def forward(self, hidden_states, attention_mask):
        T = hidden_states.shape[1]
        x = F.layer_norm(hidden_states, (hidden_states.shape[-1],), self.norm.weight, self.norm.bias, 1e-5)
        q, k, v = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        place = attention_mask.long().cumsum(-1)
        distance = (place[:, :, None] - place[:, None, :]).to(x.dtype)              # [B, query, key]
        slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / self.H) for h in range(self.H)], dtype=x.dtype)
        scores = torch.einsum("bqhd,bkhd->bhqk", q / self.D**0.5, k) - slopes[:, None, None] * distance[:, None]
        keep = torch.ones(T, T, dtype=torch.bool).tril() & attention_mask[:, None, :]
        bias = torch.where(keep, 0.0, float("-inf"))[:, None]
        out = torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores + bias, -1), v)
        return hidden_states + self.o_proj(out.flatten(2))
