"""Fused AdamW step: fp32 master weights and moments in place, gradient unscaled, bias corrections from the host, bf16 copy written out."""
import torch
import triton
import triton.language as tl


@triton.jit
def _adamw_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr, p16_ptr,
    lr, beta1, beta2, eps, weight_decay, bc1, bc2_sqrt, inv_scale, n,
    WRITE_COPY: tl.constexpr, BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask).to(tl.float32) * inv_scale
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    p = p * (1 - lr * weight_decay)
    m = m + (g - m) * (1 - beta1)
    v = beta2 * v + (1 - beta2) * g * g
    denom = tl.sqrt(v) / bc2_sqrt + eps
    p = p - (lr / bc1) * (m / denom)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)
    if WRITE_COPY:
        tl.store(p16_ptr + offs, p.to(tl.bfloat16), mask=mask)


def launch(n=300):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    exp_avg = torch.randn(n, device="cuda")
    exp_avg_sq = torch.rand(n, device="cuda")
    param16 = torch.empty(n, device="cuda", dtype=torch.bfloat16)
    step = 10
    _adamw_kernel[(triton.cdiv(n, 128),)](
        param, grad, exp_avg, exp_avg_sq, param16,
        1e-3, 0.9, 0.95, 1e-8, 0.1, 1 - 0.9**step, (1 - 0.95**step) ** 0.5, 1 / 128, n,
        WRITE_COPY=True, BLOCK=128,
    )
    return param, exp_avg, exp_avg_sq, param16


def reference(param, grad, exp_avg, exp_avg_sq):
    g = grad.float() / 128
    m = 0.9 * exp_avg + (1 - 0.9) * g
    v = 0.95 * exp_avg_sq + (1 - 0.95) * g.square()
    m_hat = m / (1 - 0.9**10)
    v_hat = v / (1 - 0.95**10)
    p = param - 1e-3 * 0.1 * param - 1e-3 * m_hat / (v_hat.sqrt() + 1e-8)
    return p, m, v, p.to(torch.bfloat16)

TRUTH = "verified"
