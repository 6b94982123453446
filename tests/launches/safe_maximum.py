"""Softmax over a middle dimension, which takes 0 for a maximum that is −∞ still."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, N, K, SAFE: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    cols = tl.program_id(1) * TILE_K + tl.arange(0, TILE_K)
    m = tl.full([TILE_K], value=float("-inf"), dtype=tl.float32)
    z = tl.full([TILE_K], value=0.0, dtype=tl.float32)
    for start in range(0, N, TILE_N):
        rows = start + tl.arange(0, TILE_N)
        at = tl.program_id(0) * N * K + rows[:, None] * K + cols[None, :]
        mask = (rows[:, None] < N) & (cols[None, :] < K)
        x = tl.load(x_ptr + at, mask=mask, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        if SAFE == 0:
            safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        elif SAFE == 1:
            safe = tl.where(m_new > float("-inf"), m_new, 0.0)
        else:
            safe = tl.where(m_new == float("-inf"), 0.0, m)
        z = z * tl.exp(m - safe) + tl.sum(tl.exp(x - safe[None, :]), 0)
        m = m_new
    for start in range(0, N, TILE_N):
        rows = start + tl.arange(0, TILE_N)
        at = tl.program_id(0) * N * K + rows[:, None] * K + cols[None, :]
        mask = (rows[:, None] < N) & (cols[None, :] < K)
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        tl.store(out_ptr + at, tl.exp(x - m[None, :]) / z[None, :], mask=mask)


def softmax(x, safe):
    B, N, K = x.shape
    out = torch.empty_like(x)
    softmax_kernel[(B, triton.cdiv(K, 64))](x, out, N, K, SAFE=safe, TILE_N=16, TILE_K=64)
    return out


def launch_equal(B=3, N=39, K=70):
    x = torch.randn(B, N, K)
    return softmax(x, 0)


def launch_greater(B=3, N=39, K=70):
    x = torch.randn(B, N, K)
    return softmax(x, 1)


def launch_of_the_old_maximum(B=3, N=39, K=70):
    x = torch.randn(B, N, K)
    return softmax(x, 2)


def reference(x):
    return torch.softmax(x, dim=1)


@triton.jit
def marked_kernel(x_ptr, keep_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
        x = tl.where(tl.load(keep_ptr + row * n + i, mask=i < n, other=0) != 0, x, float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        total = total * tl.exp(m - safe) + tl.sum(tl.exp(x - safe), 0)
        m = m_new
    tl.store(out_ptr + row, tl.where(m == float("-inf"), 0.0, total))


def launch_marked(rows=6, n=50):
    """Right for every row, also for one whose first block is left out, and one of which all is."""
    x = torch.randn(rows, n)
    keep = torch.ones(rows, n, dtype=torch.int32)
    keep[:, :16] = 0
    keep[1] = 0
    out = torch.empty(rows)
    marked_kernel[(rows,)](x, keep, out, n, BLOCK=16)
    return out


def reference_marked(x, keep):
    kept = x.masked_fill(keep == 0, float("-inf"))
    m = kept.amax(-1, keepdim=True)
    return torch.exp(kept - torch.where(m == float("-inf"), 0.0, m)).sum(-1)


@triton.jit
def hide_kernel(x_ptr, keep_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.load(keep_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(keep != 0, x, float("-inf")), mask=i < n)


@triton.jit
def show_kernel(s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(s_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(s == float("-inf"), 0.0, s), mask=i < n)


def launch_hidden(n=50):
    x = torch.randn(n)
    keep = torch.randint(0, 2, (n,)).int()
    out = torch.empty(n)
    hide_kernel[(triton.cdiv(n, 16),)](x, keep, out, n, BLOCK=16)
    return out


def reference_hidden(x, keep):
    return torch.where(keep != 0, x, float("-inf"))


def launch_hidden_and_shown(n=50):
    """The infinities that the first kernel stores are 0 after the second one."""
    x = torch.randn(n)
    keep = torch.randint(0, 2, (n,)).int()
    s = torch.empty(n)
    out = torch.empty(n)
    hide_kernel[(triton.cdiv(n, 16),)](x, keep, s, n, BLOCK=16)
    show_kernel[(triton.cdiv(n, 16),)](s, out, n, BLOCK=16)
    return out
