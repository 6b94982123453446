"""One LAMB step for one tensor: Adam's update, then the trust ratio of the layer (apex's two stages)."""
import torch
import triton
import triton.language as tl


@triton.jit
def lamb_stage1_kernel(
    p_ptr, g_ptr, m_ptr, v_ptr, update_ptr, p_norm_ptr, u_norm_ptr,
    beta1, beta2, beta1_correction, beta2_correction, eps, decay,
    n,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask, other=0.0)
    g = tl.load(g_ptr + offs, mask=mask, other=0.0)
    m = tl.load(m_ptr + offs, mask=mask, other=0.0)
    v = tl.load(v_ptr + offs, mask=mask, other=0.0)

    m = m * beta1 + (1 - beta1) * g
    v = v * beta2 + (1 - beta2) * g * g
    m_hat = m / beta1_correction
    v_hat = v / beta2_correction
    update = m_hat / (tl.sqrt(v_hat) + eps) + decay * p

    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)
    tl.store(update_ptr + offs, update, mask=mask)
    tl.store(p_norm_ptr + pid, tl.sum(p * p, axis=0))
    tl.store(u_norm_ptr + pid, tl.sum(update * update, axis=0))


@triton.jit
def lamb_stage2_kernel(
    p_ptr, update_ptr, p_norm_ptr, u_norm_ptr, lr, n, num_blocks,
    BLOCK_SIZE: tl.constexpr, BLOCK_PARTIALS: tl.constexpr,
):
    pid = tl.program_id(0)
    blocks = tl.arange(0, BLOCK_PARTIALS)
    p_norm = tl.sqrt(tl.sum(tl.load(p_norm_ptr + blocks, mask=blocks < num_blocks, other=0.0), axis=0))
    u_norm = tl.sqrt(tl.sum(tl.load(u_norm_ptr + blocks, mask=blocks < num_blocks, other=0.0), axis=0))
    ratio = tl.where((p_norm != 0.0) & (u_norm != 0.0), lr * (p_norm / u_norm), lr)

    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    u = tl.load(update_ptr + offs, mask=mask)
    tl.store(p_ptr + offs, p - ratio * u, mask=mask)


def launch(n=777):
    param = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda")
    exp_avg = torch.randn(n, device="cuda") * 0.1
    exp_avg_sq = torch.rand(n, device="cuda")
    update = torch.empty_like(param)
    BLOCK_SIZE = 128
    num_blocks = triton.cdiv(n, BLOCK_SIZE)
    p_norm = torch.empty(num_blocks, device="cuda")
    u_norm = torch.empty(num_blocks, device="cuda")
    lamb_stage1_kernel[(num_blocks,)](
        param, grad, exp_avg, exp_avg_sq, update, p_norm, u_norm,
        0.9, 0.999, 0.271, 0.003, 1e-6, 0.01, n, BLOCK_SIZE=BLOCK_SIZE,
    )
    lamb_stage2_kernel[(num_blocks,)](
        param, update, p_norm, u_norm, 0.01, n, num_blocks,
        BLOCK_SIZE=BLOCK_SIZE, BLOCK_PARTIALS=triton.next_power_of_2(num_blocks),
    )
    return param, exp_avg, exp_avg_sq


def reference(param, grad, exp_avg, exp_avg_sq):
    exp_avg = 0.9 * exp_avg + (1 - 0.9) * grad
    exp_avg_sq = 0.999 * exp_avg_sq + (1 - 0.999) * grad * grad
    update = (exp_avg / 0.271) / ((exp_avg_sq / 0.003).sqrt() + 1e-6) + 0.01 * param
    p_norm = param.square().sum().sqrt()
    u_norm = update.square().sum().sqrt()
    ratio = torch.where((p_norm != 0) & (u_norm != 0), 0.01 * p_norm / u_norm, 0.01)
    return param - ratio * update, exp_avg, exp_avg_sq


TRUTH = "verified"
