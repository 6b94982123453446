# EQUAL. ALiBi by distances (train short, test long) vs BLOOM's: slope * key position; softmax forgets the shift of a row
import torch, math
import torch.nn.functional as F

H, D = 4, 8


def get_slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start ** i for i in range(n)]


def left(q, k, v):
    T = q.size(2)
    i = torch.arange(T)
    dist = (i[None, :] - i[:, None]).to(q.dtype)              # j - i, <= 0 where allowed
    bias = torch.tensor(get_slopes(H), dtype=q.dtype)[:, None, None] * dist
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    bias = bias.masked_fill(~mask, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])


def right(q, k, v):
    T = q.shape[-2]
    slopes = torch.pow(torch.tensor(2.0 ** (-8 / H)), torch.arange(1, H + 1))
    alibi = slopes[:, None, None] * torch.arange(T)[None, None, :]
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(D) + alibi
    causal = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
    scores = scores.masked_fill(causal, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1) @ v


torch.manual_seed(0)
inputs = tuple(torch.randn(2, H, 6, D) for _ in range(3))
