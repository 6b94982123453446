"""Self-attention of a T5 encoder with bucketed relative positions: Transformers' way, and a port."""
import math

import torch
from torch import nn
from torch.nn import functional as F

D, H, HD, BUCKETS, FAR = 16, 2, 6, 8, 20
B, T = 2, 7


class T5Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, H * HD, bias=False) for _ in range(3))
        self.o = nn.Linear(H * HD, D, bias=False)
        self.relative_attention_bias = nn.Embedding(BUCKETS, H)

    @staticmethod
    def bucket(relative_position, num_buckets, max_distance):
        num_buckets //= 2
        buckets = (relative_position > 0).to(torch.long) * num_buckets
        relative_position = torch.abs(relative_position)
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        large = max_exact + (
            torch.log(relative_position.clamp(min=1).to(torch.get_default_dtype()) / max_exact)
            / math.log(max_distance / max_exact) * (num_buckets - max_exact)
        ).to(torch.long)
        large = torch.min(large, torch.full_like(large, num_buckets - 1))
        return buckets + torch.where(is_small, relative_position, large)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, H, HD).transpose(1, 2) for p in (self.q, self.k, self.v))
        context_position = torch.arange(t)[:, None]
        memory_position = torch.arange(t)[None, :]
        buckets = self.bucket(memory_position - context_position, BUCKETS, FAR)
        bias = self.relative_attention_bias(buckets).permute(2, 0, 1).unsqueeze(0)
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        out = torch.softmax(scores, dim=-1) @ v
        return self.o(out.transpose(1, 2).reshape(b, t, -1))


class Port(nn.Module):
    def __init__(self, t5):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * H * HD, bias=False)
        self.qkv.weight.data = torch.cat([t5.q.weight.data, t5.k.weight.data, t5.v.weight.data])
        self.o, self.table = t5.o, t5.relative_attention_bias

    def position_bias(self, t):
        positions = torch.arange(t)
        distance = positions[:, None] - positions[None, :]
        half = BUCKETS // 2
        exact = half // 2
        near = distance.abs()
        scaled = torch.log(near.clamp(min=1).to(torch.get_default_dtype()) / exact) / math.log(FAR / exact)
        far = (exact + (scaled * (half - exact)).to(torch.long)).clamp(max=half - 1)
        index = torch.where(near < exact, near, far) + half * (distance > 0)
        return self.table(index).permute(2, 0, 1)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, H, HD).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=self.position_bias(t)[None], scale=1.0)
        return self.o(out.transpose(1, 2).flatten(2))


left = T5Attention()
right = Port(left)


def inputs():
    return (torch.randn(B, T, D),)
