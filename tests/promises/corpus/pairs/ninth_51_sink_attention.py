# EQUAL
import math
import torch
import torch.nn.functional as F


def left(q, k, v, sinks):
    # a column of learnt logits takes part in the softmax, and is dropped
    b, h, t, d = q.shape
    k = k.repeat_interleave(h // k.shape[1], dim=1)
    v = v.repeat_interleave(h // v.shape[1], dim=1)
    logits = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(d)
    logits = logits + torch.full((t, t), float("-inf"), dtype=q.dtype).triu(1)
    combined = torch.cat([logits, sinks.reshape(1, -1, 1, 1).expand(b, -1, t, -1)], dim=-1)
    combined = combined - combined.max(dim=-1, keepdim=True).values
    probs = F.softmax(combined, dim=-1)[..., :-1]
    return torch.matmul(probs, v)


def right(q, k, v, sinks):
    # plain attention, then scaled by the share of the softmax that is not the sink's
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    s = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    keep = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
    lse = s.masked_fill(~keep, float("-inf")).logsumexp(-1)
    return out * torch.sigmoid(lse - sinks[None, :, None])[..., None]


def inputs():
    torch.manual_seed(33)
    return torch.randn(2, 4, 5, 8), torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8), torch.randn(4)
