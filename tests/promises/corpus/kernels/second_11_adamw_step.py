"""One fused AdamW step on flat parameters, in place."""

import math

import torch
import triton
import triton.language as tl

LR, BETA1, BETA2, EPS, WEIGHT_DECAY, STEP = 1e-3, 0.9, 0.999, 1e-8, 0.01, 3


@triton.jit
def adamw_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr,
    lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2_sqrt,
    n_elements, BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    p = tl.load(p_ptr + offsets, mask=mask)
    g = tl.load(g_ptr + offsets, mask=mask)
    m = tl.load(m_ptr + offsets, mask=mask)
    v = tl.load(v_ptr + offsets, mask=mask)

    p = p * (1 - lr * weight_decay)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    denom = tl.sqrt(v) / bias_correction2_sqrt + eps
    p = p - lr / bias_correction1 * m / denom

    tl.store(p_ptr + offsets, p, mask=mask)
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)


def launch(n=1000):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    exp_avg = torch.randn(n, device="cuda")
    exp_avg_sq = torch.rand(n, device="cuda")
    adamw_kernel[(triton.cdiv(n, 256),)](
        param, grad, exp_avg, exp_avg_sq,
        LR, BETA1, BETA2, EPS, WEIGHT_DECAY, 1 - BETA1**STEP, math.sqrt(1 - BETA2**STEP),
        n, BLOCK_SIZE=256,
    )
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    param = param * (1 - LR * WEIGHT_DECAY)
    exp_avg = exp_avg * BETA1 + grad * (1 - BETA1)
    exp_avg_sq = exp_avg_sq * BETA2 + grad.square() * (1 - BETA2)
    denom = exp_avg_sq.sqrt() / math.sqrt(1 - BETA2**STEP) + EPS
    param = param - LR / (1 - BETA1**STEP) * exp_avg / denom
    return param, exp_avg, exp_avg_sq


TRUTH = "verified"
