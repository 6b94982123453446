"""One step of AdamW, parameters and both moments updated in place."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, weight_decay, bc1, bc2, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    p = p * (1.0 - lr * weight_decay)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    denom = tl.sqrt(v / bc2) + eps
    p = p - lr * (m / bc1) / denom
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


LR, B1, B2, EPS, WD, STEP = 1e-2, 0.9, 0.99, 1e-8, 0.1, 3


def launch(param, grad, exp_avg, exp_avg_sq):
    n = param.numel()
    adamw_kernel[(triton.cdiv(n, 128),)](
        param, grad, exp_avg, exp_avg_sq, LR, B1, B2, EPS, WD, 1 - B1 ** STEP, 1 - B2 ** STEP, n, BLOCK=128)
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    m = exp_avg.lerp(grad, 1 - B1)
    v = B2 * exp_avg_sq + (1 - B2) * grad.square()
    p = param - LR * WD * param
    p = p - LR * (m / (1 - B1 ** STEP)) / ((v / (1 - B2 ** STEP)).sqrt() + EPS)
    return p, m, v


def inputs(n=300):
    return torch.randn(n), torch.randn(n), torch.randn(n) * 0.1, torch.rand(n) * 0.1
