"""Triplet margin loss, one row a program (torch's TripletMarginLoss with p = 2)."""
import torch
import triton
import triton.language as tl


@triton.jit
def triplet_margin_kernel(
    a_ptr, p_ptr, n_ptr, loss_ptr,
    stride, D, margin, eps,
    BLOCK_D: tl.constexpr,
):
    row = tl.program_id(0)
    sum_p = 0.0
    sum_n = 0.0
    for start in range(0, D, BLOCK_D):
        cols = start + tl.arange(0, BLOCK_D)
        mask = cols < D
        a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        p = tl.load(p_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        n = tl.load(n_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dp = tl.where(mask, a - p + eps, 0.0)
        dn = tl.where(mask, a - n + eps, 0.0)
        sum_p += tl.sum(dp * dp)
        sum_n += tl.sum(dn * dn)
    loss = tl.sqrt(sum_p) - tl.sqrt(sum_n) + margin
    tl.store(loss_ptr + row, tl.maximum(loss, 0.0))


def launch(batch=9, dim=75):
    anchor = torch.randn(batch, dim, device="cuda")
    positive = torch.randn(batch, dim, device="cuda")
    negative = torch.randn(batch, dim, device="cuda")
    loss = torch.empty(batch, dtype=torch.float32, device="cuda")
    triplet_margin_kernel[(batch,)](
        anchor, positive, negative, loss, anchor.stride(0), dim, 1.0, 1e-6, BLOCK_D=32
    )
    return loss.mean()


def reference(anchor, positive, negative):
    return torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6)


TRUTH = "verified"
