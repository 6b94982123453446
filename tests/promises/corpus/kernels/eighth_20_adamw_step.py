import torch
import triton
import triton.language as tl


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, decay, corr1, corr2, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask, other=0.0)
    g = tl.load(g_ptr + i, mask=mask, other=0.0)
    m = tl.load(m_ptr + i, mask=mask, other=0.0)
    v = tl.load(v_ptr + i, mask=mask, other=0.0)
    p = p - lr * decay * p
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    p = p - lr * (m / corr1) / (tl.sqrt(v / corr2) + eps)
    tl.store(p_ptr + i, p, mask=mask)
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)


def launch(n=500):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    exp_avg = torch.randn(n, device="cuda")
    exp_avg_sq = torch.rand(n, device="cuda")
    adamw_kernel[(triton.cdiv(n, 256),)](param, grad, exp_avg, exp_avg_sq, n, 0.125, 0.75, 0.875, 1e-6, 0.0625,
                                         0.578125, 0.330078125, BLOCK=256)
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    m = 0.75 * exp_avg + 0.25 * grad
    v = 0.875 * exp_avg_sq + 0.125 * grad**2
    step = (m / 0.578125) / (torch.sqrt(v / 0.330078125) + 1e-6)
    return param * (1 - 0.125 * 0.0625) - 0.125 * step, m, v


TRUTH = "verified"
