"""AdamW step with clipping by the gradient's norm: block sums of squares, one program that makes the clip factor, then the update in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def sq_norm_partial_kernel(g_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    tl.store(partial_ptr + pid, tl.sum(g * g, axis=0))


@triton.jit
def clip_factor_kernel(partial_ptr, factor_ptr, num_partial, max_norm, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, num_partial, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(partial_ptr + offs, mask=offs < num_partial, other=0.0)
    norm = tl.sqrt(tl.sum(acc, axis=0))
    tl.store(factor_ptr, tl.minimum(max_norm / (norm + 1e-6), 1.0))


@triton.jit
def adamw_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr, factor_ptr, n,
    lr, beta1, beta2, eps, weight_decay, bias1, bias2,
    BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    factor = tl.load(factor_ptr)
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask) * factor
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)

    p = p * (1.0 - lr * weight_decay)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    update = (m / bias1) / (tl.sqrt(v / bias2) + eps)
    p = p - lr * update

    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


def launch(n=300):
    p = torch.randn(n, device="cuda")
    g = torch.randn(n, device="cuda")
    m = torch.randn(n, device="cuda")
    v = torch.rand(n, device="cuda")
    beta1, beta2 = 0.9, 0.999
    step = 3
    BLOCK = 64
    blocks = triton.cdiv(n, BLOCK)
    partial = torch.empty(blocks, device="cuda", dtype=torch.float32)
    factor = torch.empty(1, device="cuda", dtype=torch.float32)
    sq_norm_partial_kernel[(blocks,)](g, partial, n, BLOCK=BLOCK)
    clip_factor_kernel[(1,)](partial, factor, blocks, 1.0, BLOCK=128)
    adamw_kernel[(blocks,)](
        p, g, m, v, factor, n,
        1e-3, beta1, beta2, 1e-8, 0.01, 1.0 - beta1**step, 1.0 - beta2**step,
        BLOCK=BLOCK,
    )
    return p, m, v


def reference(p, g, m, v):
    norm = torch.sqrt((g * g).sum())
    g = g * torch.clamp(1.0 / (norm + 1e-6), max=1.0)
    m = 0.9 * m + (1 - 0.9) * g
    v = 0.999 * v + (1 - 0.999) * g * g
    m_hat = m / (1 - 0.9**3)
    v_hat = v / (1 - 0.999**3)
    p = p * (1 - 1e-3 * 0.01)
    return p - 1e-3 * m_hat / (torch.sqrt(v_hat) + 1e-8), m, v

TRUTH = "verified"
