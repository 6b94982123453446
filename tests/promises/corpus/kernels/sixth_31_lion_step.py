import torch
import triton
import triton.language as tl


@triton.jit
def update_fn_kernel(
    p_ptr,
    grad_ptr,
    exp_avg_ptr,
    lr,
    wd,
    beta1,
    beta2,
    n_elements,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)

    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)

    mask = offsets <= n_elements

    # offsetted pointers
    offset_p_ptr = p_ptr + offsets
    offset_grad_ptr = grad_ptr + offsets
    offset_exp_avg_ptr = exp_avg_ptr + offsets

    p = tl.load(offset_p_ptr, mask=mask)
    grad = tl.load(offset_grad_ptr, mask=mask)
    exp_avg = tl.load(offset_exp_avg_ptr, mask=mask)

    # stepweight decay
    p = p * (1 - lr * wd)

    # diff between momentum running average and grad
    diff = exp_avg - grad
    update = diff * beta1 + grad

    # sign
    can_update = update != 0
    update_sign = tl.where(update > 0, -lr, lr)
    p = p + update_sign * can_update

    # decay the momentum running average coefficient
    exp_avg = diff * beta2 + grad

    tl.store(offset_p_ptr, p, mask=mask)
    tl.store(offset_exp_avg_ptr, exp_avg, mask=mask)


def update_fn(p, grad, exp_avg, lr, wd, beta1, beta2):
    assert all([t.is_contiguous() for t in (p, grad, exp_avg)])
    n_elements = p.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    update_fn_kernel[grid](p, grad, exp_avg, lr, wd, beta1, beta2, n_elements, BLOCK_SIZE=128)


def launch(n=300):
    p = torch.randn(n)
    grad = torch.randn(n)
    exp_avg = torch.randn(n)
    update_fn(p, grad, exp_avg, 1e-2, 0.1, 0.9, 0.99)
    return p, exp_avg


def reference(p, grad, exp_avg):
    p = p * (1 - 1e-2 * 0.1)
    update = 0.9 * exp_avg + 0.1 * grad
    return p - 1e-2 * torch.sign(update), 0.99 * exp_avg + 0.01 * grad


TRUTH = "broken"
