# EQUAL. T5's relative position bias: transformers' bucket function on a matrix vs a table of distances made in Python
import math
import torch
from torch import nn

NB, MAXD, H = 8, 20, 3


def relative_position_bucket(relative_position, bidirectional=True, num_buckets=NB, max_distance=MAXD):
    relative_buckets = 0
    if bidirectional:
        num_buckets //= 2
        relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
        relative_position = torch.abs(relative_position)
    else:
        relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
    max_exact = num_buckets // 2
    is_small = relative_position < max_exact
    relative_position_if_large = max_exact + (
        torch.log(relative_position.float() / max_exact) / math.log(max_distance / max_exact) * (num_buckets - max_exact)
    ).to(torch.long)
    relative_position_if_large = torch.min(
        relative_position_if_large, torch.full_like(relative_position_if_large, num_buckets - 1))
    relative_buckets += torch.where(is_small, relative_position, relative_position_if_large)
    return relative_buckets


class T5Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.relative_attention_bias = nn.Embedding(NB, H)

    def forward(self, scores):
        q, k = scores.shape[-2:]
        context_position = torch.arange(q, dtype=torch.long)[:, None]
        memory_position = torch.arange(k, dtype=torch.long)[None, :]
        rp = relative_position_bucket(memory_position - context_position)
        values = self.relative_attention_bias(rp).permute([2, 0, 1]).unsqueeze(0)
        return torch.softmax(scores + values, -1)


def bucket(d):
    base, d = (4, d) if d > 0 else (0, -d)
    if d < 2:
        return base + d
    return base + min(2 + int(math.log(d / 2) / math.log(MAXD / 2) * 2), 3)


class TableBias(nn.Module):
    def __init__(self, emb, n=16):
        super().__init__()
        self.table = nn.Parameter(emb.detach().t().contiguous())      # H, NB
        self.register_buffer("bucket_of", torch.tensor([bucket(d) for d in range(-n, n + 1)]))
        self.n = n

    def forward(self, scores):
        q, k = scores.size(2), scores.size(3)
        idx = torch.arange(k).unsqueeze(0) - torch.arange(q).unsqueeze(1) + self.n
        bias = self.table[:, self.bucket_of[idx]]
        e = torch.exp(scores + bias)
        return e / e.sum(dim=-1, keepdim=True)


torch.manual_seed(0)
left = T5Bias()
right = TableBias(left.relative_attention_bias.weight)
inputs = (torch.randn(2, H, 9, 9),)
