"""Schedule-free AdamW (Defazio et al.): y is the point of the gradients, z the fast iterate."""
import torch
import triton
import triton.language as tl


@triton.jit
def schedule_free_adamw_kernel(
    y_ptr, z_ptr, grad_ptr, exp_avg_sq_ptr,
    lr, beta1, beta2, eps, weight_decay, ckp1, bias_correction2,
    n_elements,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements

    y = tl.load(y_ptr + offsets, mask=mask)
    z = tl.load(z_ptr + offsets, mask=mask)
    grad = tl.load(grad_ptr + offsets, mask=mask)
    v = tl.load(exp_avg_sq_ptr + offsets, mask=mask)

    v = v * beta2 + (1.0 - beta2) * grad * grad
    denom = tl.sqrt(v / bias_correction2 + eps)
    step = grad / denom + weight_decay * y

    y = y + ckp1 * (z - y)
    y = y + lr * (beta1 * (1.0 - ckp1) - 1.0) * step
    z = z - lr * step

    tl.store(y_ptr + offsets, y, mask=mask)
    tl.store(z_ptr + offsets, z, mask=mask)
    tl.store(exp_avg_sq_ptr + offsets, v, mask=mask)


def launch(n=1337):
    y = torch.randn(n, device="cuda")
    z = torch.randn(n, device="cuda")
    grad = torch.randn(n, device="cuda") * 0.1
    exp_avg_sq = torch.rand(n, device="cuda") * 1e-3
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
    schedule_free_adamw_kernel[grid](
        y, z, grad, exp_avg_sq,
        0.05, 0.9, 0.99, 1e-3, 0.01, 0.2, 0.75,
        n,
        BLOCK_SIZE=256,
    )
    return y, z, exp_avg_sq


def reference(y, z, grad, exp_avg_sq):
    lr, beta1, beta2, eps, decay, ckp1, correction = 0.05, 0.9, 0.99, 1e-3, 0.01, 0.2, 0.75
    exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad * grad
    denom = (exp_avg_sq / correction).sqrt() + eps
    step = grad / denom + decay * y
    y = torch.lerp(y, z, ckp1) + lr * (beta1 * (1 - ckp1) - 1) * step
    return y, z - lr * step, exp_avg_sq


TRUTH = "broken"
# WHY: the kernel adds eps under the square root (sqrt(v / c + eps)); Adam adds it outside (sqrt(v / c) + eps).
