import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(122)
D, HEADS = 8, 4


class Attention(nn.Module):
    """The paper's: a penalty in proportion to the distance."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.out = nn.Linear(D, D)
        self.slopes = [2 ** (-8 * (h + 1) / HEADS) for h in range(HEADS)]

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(D // HEADS)
        distance = torch.arange(t)[:, None] - torch.arange(t)[None, :]
        slopes = torch.tensor(self.slopes, dtype=x.dtype).view(1, HEADS, 1, 1)
        scores = scores - slopes * distance
        scores = scores.masked_fill(distance < 0, float("-inf"))
        y = torch.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, D))


class AttentionBloom(nn.Module):
    """BLOOM's: the bias is made of key positions only, and goes in as the mask."""

    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(D, 3 * D)
        self.dense = nn.Linear(D, D)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p.view(b, t, HEADS, -1).transpose(1, 2) for p in self.query_key_value(x).chunk(3, dim=-1))
        slopes = torch.pow(2.0, -2.0 * torch.arange(1, HEADS + 1, dtype=x.dtype))
        alibi = slopes[:, None, None] * torch.arange(t, dtype=x.dtype)
        causal = torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=alibi + causal)
        return self.dense(y.transpose(1, 2).flatten(2))


left = Attention()
right = AttentionBloom()
right.load_state_dict({k.replace("qkv", "query_key_value").replace("out", "dense"): v for k, v in left.state_dict().items()})
inputs = (torch.randn(2, 5, D),)
