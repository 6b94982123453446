"""Mean squared error in two stages: a partial sum for each block, then one program over the partial sums."""

import torch
import triton
import triton.language as tl


@triton.jit
def mse_partial_kernel(pred_ptr, target_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    pred = tl.load(pred_ptr + offs, mask=mask, other=0.0)
    target = tl.load(target_ptr + offs, mask=mask, other=0.0)
    diff = pred - target
    tl.store(partial_ptr + pid, tl.sum(diff * diff, axis=0))


@triton.jit
def mse_final_kernel(partial_ptr, loss_ptr, n, BLOCK: tl.constexpr):
    part = tl.load(partial_ptr + tl.arange(0, BLOCK))
    tl.store(loss_ptr, tl.sum(part, axis=0) / n)


def launch(n=1100):
    pred = torch.randn(n, device="cuda")
    target = torch.randn(n, device="cuda")
    blocks = triton.cdiv(n, 128)
    padded = triton.next_power_of_2(blocks)
    partial = torch.empty(padded, device="cuda")
    loss = torch.empty((), device="cuda")
    mse_partial_kernel[(blocks,)](pred, target, partial, n, BLOCK=128)
    mse_final_kernel[(1,)](partial, loss, n, BLOCK=padded)
    return loss


def reference(pred, target):
    return ((pred - target) ** 2).mean()


TRUTH = "different"
