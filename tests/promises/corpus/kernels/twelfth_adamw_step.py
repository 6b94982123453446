"""One AdamW step in place over flat parameters, decoupled weight decay first, with bias corrections that the host works out for step 3."""
import torch
import triton
import triton.language as tl


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, decay, correct1, correct2, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask)
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    p = p * (1.0 - lr * decay)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    update = (m / correct1) / (tl.sqrt(v / correct2) + eps)
    tl.store(p_ptr + offs, p - lr * update, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


def launch(n=3000):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    exp_avg = torch.randn(n, device="cuda")
    exp_avg_sq = torch.rand(n, device="cuda")
    adamw_kernel[(triton.cdiv(n, 1024),)](
        param, grad, exp_avg, exp_avg_sq, n,
        1e-3, 0.9, 0.95, 1e-8, 0.1, 1 - 0.9**3, 1 - 0.95**3, BLOCK=1024,
    )
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    m = 0.9 * exp_avg + (1 - 0.9) * grad
    v = 0.95 * exp_avg_sq + (1 - 0.95) * grad * grad
    param = param * (1 - 1e-3 * 0.1)
    m_hat = m / (1 - 0.9**3)
    v_hat = v / (1 - 0.95**3)
    return param - 1e-3 * m_hat / (v_hat.sqrt() + 1e-8), m, v


TRUTH = "verified"
