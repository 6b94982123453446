"""Flash decoding in two kernels: the splits store their log-sum-exp in base 2, the one that combines them weighs by base e."""
import torch
import triton
import triton.language as tl


@triton.jit
def split_kv_kernel(
    q_ptr, k_ptr, v_ptr, po_ptr, lse_ptr, scale, T, dim, heads, splits, per_split, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr
):
    h = tl.program_id(0)
    split = tl.program_id(1)
    d = tl.arange(0, BLOCK_D)
    q = tl.load(q_ptr + h * dim + d, mask=d < dim, other=0.0) * (scale * 1.4426950408889634)
    m = float("-inf")
    l = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    lo = split * per_split
    hi = tl.minimum(lo + per_split, T)
    for start in range(lo, hi, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        offs = (n[:, None] * heads + h) * dim + d[None, :]
        mask = (n[:, None] < hi) & (d[None, :] < dim)
        s = tl.sum(q[None, :] * tl.load(k_ptr + offs, mask=mask, other=0.0), axis=1)
        s = tl.where(n < hi, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp2(s - m_new)
        alpha = tl.exp2(m - m_new)
        acc = acc * alpha + tl.sum(p[:, None] * tl.load(v_ptr + offs, mask=mask, other=0.0), axis=0)
        l = l * alpha + tl.sum(p, axis=0)
        m = m_new
    tl.store(po_ptr + (h * splits + split) * dim + d, acc / l, mask=d < dim)
    tl.store(lse_ptr + h * splits + split, m + tl.log2(l))


@triton.jit
def combine_kernel(po_ptr, lse_ptr, o_ptr, dim, splits, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr):
    h = tl.program_id(0)
    s = tl.arange(0, BLOCK_S)
    d = tl.arange(0, BLOCK_D)
    lse = tl.load(lse_ptr + h * splits + s, mask=s < splits, other=float("-inf"))
    w = tl.exp(lse - tl.max(lse, axis=0))
    w = w / tl.sum(w, axis=0)
    po = tl.load(
        po_ptr + (h * splits + s[:, None]) * dim + d[None, :], mask=(s[:, None] < splits) & (d[None, :] < dim), other=0.0
    )
    tl.store(o_ptr + h * dim + d, tl.sum(w[:, None] * po, axis=0), mask=d < dim)


def launch(heads=3, T=90, dim=24):
    q = torch.randn(heads, dim)
    k = torch.randn(T, heads, dim)
    v = torch.randn(T, heads, dim)
    splits = triton.cdiv(T, 32)
    po = torch.empty(heads, splits, dim)
    lse = torch.empty(heads, splits)
    o = torch.empty_like(q)
    split_kv_kernel[(heads, splits)](q, k, v, po, lse, 0.2, T, dim, heads, splits, 32, BLOCK_N=16, BLOCK_D=32)
    combine_kernel[(heads,)](po, lse, o, dim, splits, BLOCK_S=triton.next_power_of_2(splits), BLOCK_D=32)
    return o


launch.assume = ["dim <= 32"]


def reference(q, k, v):
    s = torch.einsum("hd,thd->ht", q, k) * 0.2
    return torch.einsum("ht,thd->hd", torch.softmax(s, -1), v)
TRUTH = "broken"
