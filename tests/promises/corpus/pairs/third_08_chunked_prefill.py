# EQUAL: Full causal prefill vs prefill in chunks of 3 that append to a KV cache, with rotary at absolute positions
import torch
from torch import nn
import torch.nn.functional as F

D, H, HD = 8, 2, 4


def cos_sin(positions, dtype):
    inv = 1.0 / (10000.0 ** (torch.arange(0, HD, 2, dtype=dtype) / HD))
    f = positions.to(dtype)[:, None] * inv[None, :]
    f = torch.cat((f, f), -1)
    return f.cos(), f.sin()


def rotate_half(x):
    return torch.cat((-x[..., HD // 2 :], x[..., : HD // 2]), -1)


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)

    def heads(self, x, positions):
        q, k, v = self.qkv(x).unflatten(-1, (3, H, HD)).permute(2, 0, 3, 1, 4)
        c, s = cos_sin(positions, x.dtype)
        return q * c + rotate_half(q) * s, k * c + rotate_half(k) * s, v


class Full(Attn):
    def forward(self, x):
        q, k, v = self.heads(x, torch.arange(x.shape[1]))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(o.transpose(1, 2).flatten(2))


class Chunked(Attn):
    chunk = 3

    def forward(self, x):
        ks, vs, outs = [], [], []
        done = 0
        for piece in x.split(self.chunk, dim=1):
            n = piece.shape[1]
            pos = torch.arange(done, done + n)
            q, k, v = self.heads(piece, pos)
            ks.append(k)
            vs.append(v)
            kk, vv = torch.cat(ks, 2), torch.cat(vs, 2)
            allowed = torch.arange(done + n)[None, :] <= pos[:, None]
            s = q @ kk.transpose(-2, -1) / HD**0.5
            s = torch.where(allowed, s, float("-inf"))
            outs.append((s.softmax(-1) @ vv).transpose(1, 2).flatten(2))
            done += n
        return self.proj(torch.cat(outs, 1))


left = Full()
right = Chunked()
right.load_state_dict(left.state_dict())


def inputs():
    return (torch.randn(2, 8, D),)
