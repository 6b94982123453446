"""One decoding step of a batch whose sequences have different lengths in the cache."""
import torch
from torch import nn

DIM, HEADS, KV, HD = 16, 4, 2, 4


def rope(x, positions):
    """x: B, heads, HD; one position for each row of the batch."""
    freqs = 100.0 ** (-torch.arange(0, HD, 2) / HD)
    angle = positions[:, None, None] * freqs
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat([x1 * angle.cos() - x2 * angle.sin(), x2 * angle.cos() + x1 * angle.sin()], dim=-1)


class Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(DIM, HEADS * HD, bias=False)
        self.k = nn.Linear(DIM, KV * HD, bias=False)
        self.v = nn.Linear(DIM, KV * HD, bias=False)
        self.o = nn.Linear(HEADS * HD, DIM, bias=False)

    def project(self, x, lengths):
        b = x.shape[0]
        q = rope(self.q(x).view(b, HEADS, HD), lengths)
        k = rope(self.k(x).view(b, KV, HD), lengths)
        return q, k, self.v(x).view(b, KV, HD)

    def forward(self, x, k_cache, v_cache, lengths):
        b, s = k_cache.shape[:2]
        q, k, v = self.project(x, lengths)
        rows = torch.arange(b)
        k_cache = k_cache.index_put((rows, lengths), k)
        v_cache = v_cache.index_put((rows, lengths), v)
        keys = k_cache.repeat_interleave(HEADS // KV, dim=2)
        values = v_cache.repeat_interleave(HEADS // KV, dim=2)
        scores = torch.einsum("bhd,bshd->bhs", q, keys) / HD**0.5
        hidden = torch.arange(s)[None, None, :] > lengths[:, None, None]
        probs = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        y = torch.einsum("bhs,bshd->bhd", probs, values)
        return self.o(y.reshape(b, -1)), k_cache, v_cache


class DecodeAppend(Decode):
    def forward(self, x, k_cache, v_cache, lengths):
        b, s = k_cache.shape[:2]
        q, k, v = self.project(x, lengths)
        q = q.view(b, KV, HEADS // KV, HD) * HD**-0.5
        old = torch.einsum("bgrd,bsgd->bgrs", q, k_cache)
        old = torch.where(torch.arange(s) < lengths.view(b, 1, 1, 1), old, float("-inf"))
        new = (q * k.unsqueeze(2)).sum(-1, keepdim=True)
        probs = torch.cat([old, new], dim=-1).softmax(-1)
        y = torch.einsum("bgrs,bsgd->bgrd", probs[..., :-1], v_cache) + probs[..., -1:] * v.unsqueeze(2)
        here = (torch.arange(s) == lengths[:, None])[:, :, None, None]
        return self.o(y.flatten(1)), torch.where(here, k[:, None], k_cache), torch.where(here, v[:, None], v_cache)


left = Decode
right = DecodeAppend


def inputs():
    cache = (3, 7, KV, HD)
    return torch.randn(3, DIM), torch.randn(cache), torch.randn(cache), torch.tensor([2, 6, 0])
