"""adamw, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _adamw_step_kernel(
    p_ptr,
    g_ptr,
    m_ptr,
    v_ptr,
    shadow_ptr,
    grad_norm_ptr,
    lr,
    beta1,
    beta2,
    eps,
    weight_decay,
    bias_correction1,
    bias_correction2,
    max_norm,
    numel,
    BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    norm = tl.load(grad_norm_ptr)
    clip = tl.minimum(max_norm / (norm + 1e-6), 1.0)

    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask).to(tl.float32) * clip
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)

    p *= 1 - lr * weight_decay
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    m_hat = m / bias_correction1
    v_hat = v / bias_correction2
    p -= lr * m_hat / (tl.sqrt(v_hat) + eps)

    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)
    tl.store(shadow_ptr + offs, p.to(shadow_ptr.dtype.element_ty), mask=mask)


def adamw_step(param, grad, exp_avg, exp_avg_sq, shadow, grad_norm, step, lr=3e-4, betas=(0.9, 0.95), eps=1e-8, wd=0.1):
    n = param.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    _adamw_step_kernel[grid](
        param, grad, exp_avg, exp_avg_sq, shadow, grad_norm,
        lr, betas[0], betas[1], eps, wd, 1 - betas[0] ** step, 1 - betas[1] ** step, 1.0, n, BLOCK=256,
    )


def launch(rows=20, cols=35):
    param = torch.randn(rows, cols, device="cuda")
    grad = torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)
    exp_avg = torch.randn(rows, cols, device="cuda")
    exp_avg_sq = torch.rand(rows, cols, device="cuda")
    shadow = torch.empty(rows, cols, device="cuda", dtype=torch.bfloat16)
    grad_norm = torch.linalg.vector_norm(grad.float())
    adamw_step(param, grad, exp_avg, exp_avg_sq, shadow, grad_norm, step=7)
    return param, exp_avg, exp_avg_sq, shadow


def reference(param, grad, exp_avg, exp_avg_sq):
    g = grad.float()
    g = g * (1.0 / (torch.linalg.vector_norm(g) + 1e-6)).clamp(max=1.0)
    m = 0.9 * exp_avg + (1 - 0.9) * g
    v = 0.95 * exp_avg_sq + (1 - 0.95) * g * g
    denom = (v / (1 - 0.95**7)).sqrt() + 1e-8
    p = param * (1 - 3e-4 * 0.1) - 3e-4 * (m / (1 - 0.9**7)) / denom
    return p, m, v, p.to(torch.bfloat16)


TRUTH = "verified"
