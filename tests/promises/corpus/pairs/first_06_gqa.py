# EQUAL. grouped-query attention: repeat_kv vs grouping the queries, einsum
import torch
import torch.nn.functional as F

torch.manual_seed(0)
B, T, HQ, HKV, D = 2, 5, 6, 2, 8


def repeat_kv(hidden_states, n_rep):
    batch, num_key_value_heads, slen, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim)
    return hidden_states.reshape(batch, num_key_value_heads * n_rep, slen, head_dim)


def left(q, k, v, attention_mask):
    # q: B HQ T D; mask: B T (1 keep, 0 pad)
    k, v = repeat_kv(k, HQ // HKV), repeat_kv(v, HQ // HKV)
    s = torch.matmul(q, k.transpose(2, 3)) * D ** -0.5
    s = s + (1.0 - attention_mask[:, None, None, :].to(s.dtype)) * -10000.0
    return torch.matmul(F.softmax(s, dim=-1), v)


def right(q, k, v, attention_mask):
    b, h, t, d = q.shape
    g = q.reshape(b, HKV, h // HKV, t, d)
    s = torch.einsum("bkgtd,bksd->bkgts", g / d ** 0.5, k)
    pad = attention_mask.eq(0)[:, None, None, None]
    s = torch.where(pad, s - 1e4, s)
    return torch.einsum("bkgts,bksd->bkgtd", s.softmax(-1), v).reshape(b, h, t, d)


def inputs():
    m = torch.ones(B, T, dtype=torch.bool)
    m[1, 3:] = False
    return torch.randn(B, HQ, T, D), torch.randn(B, HKV, T, D), torch.randn(B, HKV, T, D), m
