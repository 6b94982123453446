import torch
import triton
import triton.language as tl


@triton.jit
def _decode_stage1(Q, K, V, Mid_O, Mid_M, Mid_L, sm_scale, S, n_splits,
                   PER_SPLIT: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    bh = tl.program_id(0)
    sp = tl.program_id(1)
    d = tl.arange(0, D)
    q = tl.load(Q + bh * D + d) * sm_scale
    lo = sp * PER_SPLIT
    hi = tl.minimum(lo + PER_SPLIT, S)
    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([D], tl.float32)
    for s0 in range(lo, hi, BLOCK_N):
        s = s0 + tl.arange(0, BLOCK_N)
        k = tl.load(K + bh * S * D + s[:, None] * D + d[None, :], mask=s[:, None] < hi, other=0.0)
        w = tl.sum(q[None, :] * k, 1)
        w = tl.where(s < hi, w, -float("inf"))
        m_new = tl.maximum(tl.max(w, 0), m_i)
        a = tl.exp(m_i - m_new)
        p = tl.exp(w - m_new)
        v = tl.load(V + bh * S * D + s[:, None] * D + d[None, :], mask=s[:, None] < hi, other=0.0)
        acc = acc * a + tl.sum(p[:, None] * v, 0)
        l_i = l_i * a + tl.sum(p, 0)
        m_i = m_new
    tl.store(Mid_O + (bh * n_splits + sp) * D + d, acc)
    tl.store(Mid_M + bh * n_splits + sp, m_i)
    tl.store(Mid_L + bh * n_splits + sp, l_i)


@triton.jit
def _decode_stage2(Mid_O, Mid_M, Mid_L, Out, n_splits, D: tl.constexpr):
    bh = tl.program_id(0)
    d = tl.arange(0, D)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], tl.float32)
    for sp in range(n_splits):
        o_s = tl.load(Mid_O + (bh * n_splits + sp) * D + d)
        m_s = tl.load(Mid_M + bh * n_splits + sp)
        l_s = tl.load(Mid_L + bh * n_splits + sp)
        m_new = tl.maximum(m, m_s)
        old = tl.exp(m - m_new)
        new = tl.exp(m_s - m_new)
        acc = acc * old + o_s * new
        l = l * old + l_s
        m = m_new
    tl.store(Out + bh * D + d, acc / l)


def flash_decode(q, k, v, sm_scale):
    BH, S, D = k.shape
    PER_SPLIT = 32
    n_splits = triton.cdiv(S, PER_SPLIT)
    mid_o = torch.empty(BH, n_splits, D)
    mid_m = torch.empty(BH, n_splits)
    mid_l = torch.empty(BH, n_splits)
    out = torch.empty_like(q)
    _decode_stage1[(BH, n_splits)](q, k, v, mid_o, mid_m, mid_l, sm_scale, S, n_splits,
                                   PER_SPLIT=PER_SPLIT, BLOCK_N=16, D=D)
    _decode_stage2[(BH,)](mid_o, mid_m, mid_l, out, n_splits, D=D)
    return out


def launch(BH=4, S=90):
    q = torch.randn(BH, 16)
    k = torch.randn(BH, S, 16)
    v = torch.randn(BH, S, 16)
    return flash_decode(q, k, v, 0.25)


def reference(q, k, v):
    s = torch.einsum("bd,bsd->bs", q, k) * 0.25
    return torch.einsum("bs,bsd->bd", s.softmax(-1), v)


TRUTH = "broken"
