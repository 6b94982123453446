import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
D, H = 16, 2
HD = D // H


class GPTJAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, D, bias=False)
        self.k_proj = nn.Linear(D, D, bias=False)
        self.v_proj = nn.Linear(D, D, bias=False)
        self.out_proj = nn.Linear(D, D, bias=False)

    @staticmethod
    def rotate_every_two(x):
        x1, x2 = x[..., ::2], x[..., 1::2]
        return torch.stack((-x2, x1), dim=-1).flatten(-2)

    def forward(self, x):
        B, T, _ = x.shape
        inv_freq = 1.0 / (10000 ** (torch.arange(0, HD, 2) / HD))
        angles = torch.einsum("i,j->ij", torch.arange(T).float(), inv_freq)
        sin = angles.sin().repeat_interleave(2, -1)[None, :, None]
        cos = angles.cos().repeat_interleave(2, -1)[None, :, None]
        q = self.q_proj(x).view(B, T, H, HD)
        k = self.k_proj(x).view(B, T, H, HD)
        v = self.v_proj(x).view(B, T, H, HD).transpose(1, 2)
        q = (q * cos + self.rotate_every_two(q) * sin).transpose(1, 2)
        k = (k * cos + self.rotate_every_two(k) * sin).transpose(1, 2)
        att = q @ k.transpose(-1, -2) / HD**0.5
        future = torch.ones(T, T).triu(1).bool()
        att = att.masked_fill(future, float("-inf")).softmax(-1)
        return self.out_proj((att @ v).transpose(1, 2).reshape(B, T, D))


class NeoXAttention(nn.Module):
    def __init__(self, ref):
        super().__init__()
        perm = torch.cat([torch.arange(0, HD, 2), torch.arange(1, HD, 2)])
        reorder = lambda w: w.detach().view(H, HD, D)[:, perm].reshape(D, D)
        self.qkv = nn.Linear(D, 3 * D, bias=False)
        self.qkv.weight.data = torch.cat(
            [reorder(ref.q_proj.weight), reorder(ref.k_proj.weight), ref.v_proj.weight.detach()]
        )
        self.dense = nn.Linear(D, D, bias=False)
        self.dense.weight.data = ref.out_proj.weight.detach().clone()

    @staticmethod
    def rope(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        B, T, _ = x.shape
        inv_freq = 1.0 / (10000 ** (torch.arange(0, HD, 2) / HD))
        angles = torch.arange(T).float()[:, None] * inv_freq
        cos, sin = angles.cos(), angles.sin()
        q, k, v = self.qkv(x).unflatten(-1, (3, H, HD)).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(self.rope(q, cos, sin), self.rope(k, cos, sin), v, is_causal=True)
        return self.dense(y.transpose(1, 2).flatten(2))


left = GPTJAttention()
right = NeoXAttention(left)
inputs = (torch.randn(2, 5, D),)
