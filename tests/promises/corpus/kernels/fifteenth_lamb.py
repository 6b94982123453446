"""LAMB step in two launches: moments in place, update and both squared norms by atomics; then the trust ratio applied to the parameter."""
import torch
import triton
import triton.language as tl


@triton.jit
def lamb_stage1(p_ptr, g_ptr, m_ptr, v_ptr, u_ptr, norms_ptr, n, beta1, beta2, bc1, bc2, eps, wd, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    p = tl.load(p_ptr + i, mask=ok, other=0.0)
    g = tl.load(g_ptr + i, mask=ok, other=0.0)
    m = tl.load(m_ptr + i, mask=ok, other=0.0)
    v = tl.load(v_ptr + i, mask=ok, other=0.0)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    u = (m / bc1) / (tl.sqrt(v / bc2) + eps) + wd * p
    tl.store(m_ptr + i, m, mask=ok)
    tl.store(v_ptr + i, v, mask=ok)
    tl.store(u_ptr + i, u, mask=ok)
    tl.atomic_add(norms_ptr, tl.sum(p * p, 0))
    tl.atomic_add(norms_ptr + 1, tl.sum(tl.where(ok, u * u, 0.0), 0))


@triton.jit
def lamb_stage2(p_ptr, u_ptr, norms_ptr, n, lr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    pn = tl.sqrt(tl.load(norms_ptr))
    un = tl.sqrt(tl.load(norms_ptr + 1))
    ratio = tl.where((pn > 0) & (un > 0), pn / un, 1.0)
    p = tl.load(p_ptr + i, mask=ok)
    u = tl.load(u_ptr + i, mask=ok)
    tl.store(p_ptr + i, p - lr * ratio * u, mask=ok)


def launch(n=1000):
    step = 3
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    exp_avg = torch.randn(n, device="cuda")
    exp_avg_sq = torch.rand(n, device="cuda")
    update = torch.empty_like(param)
    norms = torch.zeros(2, device="cuda")
    grid = (triton.cdiv(n, 256),)
    lamb_stage1[grid](param, grad, exp_avg, exp_avg_sq, update, norms, n, 0.9, 0.999, 1 - 0.9**step, 1 - 0.999**step, 1e-6, 0.01, BLOCK=256)
    lamb_stage2[grid](param, update, norms, n, 1e-3, BLOCK=256)
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    m = 0.9 * exp_avg + (1 - 0.9) * grad
    v = 0.999 * exp_avg_sq + (1 - 0.999) * grad * grad
    u = (m / (1 - 0.9**3)) / ((v / (1 - 0.999**3)).sqrt() + 1e-6) + 0.01 * param
    pn, un = param.norm(), u.norm()
    ratio = torch.where((pn > 0) & (un > 0), pn / un, 1.0)
    return param - 1e-3 * ratio * u, m, v
TRUTH = "verified"
