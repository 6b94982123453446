# box regression loss of a detector: smooth L1 (beta = 1.5), summed over the four coordinates, weighted per anchor
import torch
import triton
import triton.language as tl


@triton.jit
def smooth_l1_kernel(pred_ptr, target_ptr, weight_ptr, loss_ptr, n, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, 4)
    mask = (i < n)[:, None] & (k < 4)[None, :]
    at = i[:, None] * 4 + k[None, :]
    diff = tl.load(pred_ptr + at, mask=mask, other=0.0) - tl.load(target_ptr + at, mask=mask, other=0.0)
    a = tl.abs(diff)
    loss = tl.where(a < beta, 0.5 * diff * diff, a - 0.5 * beta)
    w = tl.load(weight_ptr + i, mask=i < n, other=0.0)
    tl.store(loss_ptr + i, tl.sum(loss, axis=1) * w, mask=i < n)


def launch(n=50):
    pred = torch.randn(n, 4, device="cuda")
    target = torch.randn(n, 4, device="cuda")
    weight = torch.rand(n, device="cuda")
    loss = torch.empty(n, device="cuda")
    smooth_l1_kernel[(triton.cdiv(n, 32),)](pred, target, weight, loss, n, 1.5, BLOCK=32)
    return loss.sum()


def reference(pred, target, weight):
    l = torch.nn.functional.smooth_l1_loss(pred, target, reduction="none", beta=1.5)
    return (l.sum(dim=1) * weight).sum()


# the quadratic branch has to be divided by beta
TRUTH = "broken"
