import torch
import triton
import triton.language as tl


# Adan: adaptive Nesterov momentum, one fused step
@triton.jit
def adan_kernel(p_ptr, g_ptr, prev_ptr, m_ptr, v_ptr, n_ptr, lr, b1, b2, b3, eps, wd, bc1, bc2, bc3_sqrt, numel,
                BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    prev = tl.load(prev_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    n = tl.load(n_ptr + offs, mask=mask)
    diff = g - prev
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * diff
    u = g + b2 * diff
    n = b3 * n + (1 - b3) * u * u
    denom = tl.sqrt(n) / bc3_sqrt + eps
    p = p - lr * (m / bc1 + b2 * v / bc2) / denom
    p = p / (1 + lr * wd)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)
    tl.store(n_ptr + offs, n, mask=mask)
    tl.store(prev_ptr + offs, g, mask=mask)


def launch(numel=2500):
    p = torch.randn(numel, device="cuda")
    g = torch.randn(numel, device="cuda")
    prev = torch.randn(numel, device="cuda")
    m = torch.randn(numel, device="cuda")
    v = torch.randn(numel, device="cuda")
    n = torch.rand(numel, device="cuda")
    adan_kernel[(triton.cdiv(numel, 512),)](p, g, prev, m, v, n, 1e-3, 0.98, 0.92, 0.99, 1e-8, 0.02, 0.25, 0.5, 0.4, numel,
                                            BLOCK=512)
    return p, m, v, n, prev


def reference(p, g, prev, m, v, n):
    diff = g - prev
    m = m * 0.98 + g * (1 - 0.98)
    v = v * 0.92 + diff * (1 - 0.92)
    n = n * 0.99 + (1 - 0.99) * (g + 0.92 * diff).square()
    denom = n.sqrt() / 0.4 + 1e-8
    p = p - 1e-3 * m / 0.25 / denom - 1e-3 * 0.92 * v / 0.5 / denom
    return p / (1 + 1e-3 * 0.02), m, v, n, g


TRUTH = "verified"
