import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(130)
D, HEADS, HD, BUCKETS, FAR = 6, 2, 4, 8, 10


def bucket(relative):
    half = BUCKETS // 2
    out = (relative > 0).long() * half
    n = relative.abs()
    exact = half // 2
    log = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(FAR / exact) * (half - exact)).long()
    return out + torch.where(n < exact, n, log.clamp(max=half - 1))


class T5Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, HEADS * HD, bias=False) for _ in range(3))
        self.o = nn.Linear(HEADS * HD, D, bias=False)
        self.bias = nn.Embedding(BUCKETS, HEADS)
        self.norm = nn.Parameter(1 + 0.2 * torch.randn(D))

    def rms(self, x):
        return self.norm * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)

    def forward(self, x, mask):
        b, t, _ = x.shape
        y = self.rms(x)
        q, k, v = (f(y).view(b, t, HEADS, HD).transpose(1, 2) for f in (self.q, self.k, self.v))
        positions = torch.arange(t)
        bias = self.bias(bucket(positions[None, :] - positions[:, None])).permute(2, 0, 1)[None]
        bias = bias + (1.0 - mask[:, None, None, :]) * torch.finfo(x.dtype).min
        a = torch.softmax(q @ k.transpose(2, 3) + bias, dim=-1)
        return x + self.o((a @ v).transpose(1, 2).reshape(b, t, -1))


class T5LayerSdpa(T5Layer):
    def forward(self, x, mask):
        b, t, _ = x.shape
        w = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        q, k, v = F.linear(self.rms(x), w).view(b, t, 3, HEADS, HD).permute(2, 0, 3, 1, 4)
        distance = torch.arange(t)[None, :] - torch.arange(t)[:, None]
        bias = self.bias.weight.T[:, bucket(distance)].unsqueeze(0)
        bias = bias.expand(b, -1, -1, -1).masked_fill(mask[:, None, :, None] == 0, torch.finfo(x.dtype).min)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1.0)
        return x + self.o(y.transpose(1, 2).flatten(2))


left = T5Layer()
right = T5LayerSdpa()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 5, D), torch.tensor([[1.0, 1, 1, 1, 0], [1, 1, 1, 0, 0]]))
