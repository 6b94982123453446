"""Optimiser: a LAMB step in three kernels: moments and update in place, squared norms by atomics over tiles, trust ratio applied to the weights."""
import torch
import triton
import triton.language as tl


@triton.jit
def lamb_moments_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr, u_ptr,
    beta1, beta2, c1, c2, eps, weight_decay, n,
    BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = beta1 * tl.load(m_ptr + offs, mask=mask) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + offs, mask=mask) + (1 - beta2) * g * g
    u = (m / c1) / (tl.sqrt(v / c2) + eps) + weight_decay * p
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)
    tl.store(u_ptr + offs, u, mask=mask)


@triton.jit
def lamb_norms_kernel(p_ptr, u_ptr, norms_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask, other=0.0)
    u = tl.load(u_ptr + offs, mask=mask, other=0.0)
    tl.atomic_add(norms_ptr, tl.sum(p * p, axis=0))
    tl.atomic_add(norms_ptr + 1, tl.sum(u * u, axis=0))


@triton.jit
def lamb_apply_kernel(p_ptr, u_ptr, norms_ptr, lr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p_norm = tl.sqrt(tl.load(norms_ptr))
    u_norm = tl.sqrt(tl.load(norms_ptr + 1))
    ratio = tl.where((p_norm > 0) & (u_norm > 0), p_norm / u_norm, 1.0)
    p = tl.load(p_ptr + offs, mask=mask)
    u = tl.load(u_ptr + offs, mask=mask)
    tl.store(p_ptr + offs, p - lr * ratio * u, mask=mask)


def launch(n=300):
    p = torch.randn(n, device="cuda")
    g = torch.randn(n, device="cuda")
    m = torch.randn(n, device="cuda")
    v = torch.rand(n, device="cuda")
    u = torch.empty_like(p)
    norms = torch.zeros(2, device="cuda")
    BLOCK = 128
    grid = (triton.cdiv(n, BLOCK),)
    step = 3
    lamb_moments_kernel[grid](p, g, m, v, u, 0.9, 0.999, 1 - 0.9**step, 1 - 0.999**step, 1e-6, 0.01, n, BLOCK=BLOCK)
    lamb_norms_kernel[grid](p, u, norms, n, BLOCK=BLOCK)
    lamb_apply_kernel[grid](p, u, norms, 0.002, n, BLOCK=BLOCK)
    return p, m, v


def reference(p, g, m, v):
    m = 0.9 * m + (1 - 0.9) * g
    v = 0.999 * v + (1 - 0.999) * g * g
    u = (m / (1 - 0.9**3)) / ((v / (1 - 0.999**3)).sqrt() + 1e-6) + 0.01 * p
    pn, un = p.square().sum().sqrt(), u.square().sum().sqrt()
    ratio = torch.where((pn > 0) & (un > 0), pn / un, torch.ones_like(pn))
    return p - 0.002 * ratio * u, m, v

TRUTH = "verified"
