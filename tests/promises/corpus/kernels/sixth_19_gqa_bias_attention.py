import torch
import triton
import triton.language as tl


@triton.jit
def gqa_bias_fwd(q_ptr, k_ptr, v_ptr, bias_ptr, o_ptr, lse_ptr,
                 sqb, sqh, sqt, skb, skh, sks, svb, svh, svs, sbh, sbt, sob, soh, sot,
                 T, S, H, G, scale,
                 D: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr):
    it, bh = tl.program_id(0), tl.program_id(1)
    b, h = bh // H, bh % H
    hk = h // G
    t = it * BT + tl.arange(0, BT)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * sqb + h * sqh + t[:, None] * sqt + d[None, :], mask=t[:, None] < T, other=0.0)
    q = q * scale
    top = tl.full([BT], -1e30, tl.float32)
    den = tl.zeros([BT], tl.float32)
    acc = tl.zeros([BT, D], tl.float32)
    for s0 in range(0, S, BS):
        s = s0 + tl.arange(0, BS)
        k = tl.load(k_ptr + b * skb + hk * skh + s[None, :] * sks + d[:, None], mask=s[None, :] < S, other=0.0)
        bias = tl.load(bias_ptr + h * sbh + t[:, None] * sbt + s[None, :], mask=(t[:, None] < T) & (s[None, :] < S), other=0.0)
        w = tl.dot(q, k, input_precision="ieee") + bias
        w = tl.where(s[None, :] < S, w, float("-inf"))
        new = tl.maximum(top, tl.max(w, 1))
        r = tl.exp(top - new)
        p = tl.exp(w - new[:, None])
        den = den * r + tl.sum(p, 1)
        v = tl.load(v_ptr + b * svb + hk * svh + s[:, None] * svs + d[None, :], mask=s[:, None] < S, other=0.0)
        acc = acc * r[:, None] + tl.dot(p, v, input_precision="ieee")
        top = new
    tl.store(o_ptr + b * sob + h * soh + t[:, None] * sot + d[None, :], acc / den[:, None], mask=t[:, None] < T)
    tl.store(lse_ptr + bh * T + t, top + tl.log(den), mask=t < T)


def launch(B=2, KV=2, G=3, T=20, S=37):
    q = torch.randn(B, KV * G, T, 16)
    k = torch.randn(B, KV, S, 16)
    v = torch.randn(B, KV, S, 16)
    bias = torch.randn(KV * G, T, S)
    o = torch.empty_like(q)
    lse = torch.empty(B, KV * G, T)
    gqa_bias_fwd[(triton.cdiv(T, 16), B * KV * G)](
        q, k, v, bias, o, lse,
        q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2),
        v.stride(0), v.stride(1), v.stride(2), bias.stride(0), bias.stride(1),
        o.stride(0), o.stride(1), o.stride(2),
        T, S, KV * G, G, 0.25, D=16, BT=16, BS=16)
    return o, lse


def reference(q, k, v, bias):
    G = q.shape[1] // k.shape[1]
    kk, vv = k.repeat_interleave(G, dim=1), v.repeat_interleave(G, dim=1)
    s = 0.25 * torch.einsum("bhtd,bhsd->bhts", q, kk) + bias
    return torch.einsum("bhts,bhsd->bhtd", s.softmax(-1), vv), s.logsumexp(-1)


TRUTH = "verified"
