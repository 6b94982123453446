import torch
import triton
import triton.language as tl


# Signum: sign of the momentum, with decoupled weight decay
@triton.jit
def signum_kernel(p_ptr, g_ptr, m_ptr, lr, beta, wd, numel, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    m = beta * m + (1.0 - beta) * g
    p = p * (1.0 - lr * wd)
    step = tl.where(m > 0, lr, tl.where(m < 0, -lr, 0.0))
    tl.store(p_ptr + offs, p - step, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)


def launch(numel=3000):
    p = torch.randn(numel, device="cuda")
    g = torch.randn(numel, device="cuda")
    m = torch.randn(numel, device="cuda")
    signum_kernel[(triton.cdiv(numel, 1024),)](p, g, m, 1e-3, 0.9, 0.1, numel, BLOCK=1024)
    return p, m


def reference(p, g, m):
    m = 0.9 * m + (1 - 0.9) * g
    p = p * (1 - 1e-3 * 0.1)
    return p - 1e-3 * torch.sign(m), m


TRUTH = "verified"
