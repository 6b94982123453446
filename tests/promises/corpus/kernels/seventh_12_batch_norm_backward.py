"""Backward of a training-mode BatchNorm2d; one program for each channel runs over batch and pixels twice."""
import torch
import triton
import triton.language as tl


@triton.heuristics({
    "BLOCK_S": lambda args: min(triton.next_power_of_2(args["spatial_dim"]), 16),
    "BLOCK_B": lambda args: 2,
})
@triton.jit
def batch_norm_backward_kernel(
    grad_out, inp, mean_ptr, inv_std_ptr, weight_ptr,
    grad_in, grad_weight, grad_bias,
    batch_dim, feat_dim, spatial_dim,
    BLOCK_B: tl.constexpr, BLOCK_S: tl.constexpr,
):
    c = tl.program_id(0)
    mean = tl.load(mean_ptr + c)
    inv_std = tl.load(inv_std_ptr + c)
    weight = tl.load(weight_ptr + c)

    term1 = tl.zeros([BLOCK_B, BLOCK_S], dtype=tl.float32)
    term2 = tl.zeros([BLOCK_B, BLOCK_S], dtype=tl.float32)
    for b0 in range(0, tl.cdiv(batch_dim, BLOCK_B)):
        b = b0 * BLOCK_B + tl.arange(0, BLOCK_B)
        for s0 in range(0, tl.cdiv(spatial_dim, BLOCK_S)):
            s = s0 * BLOCK_S + tl.arange(0, BLOCK_S)
            mask = (b < batch_dim)[:, None] & (s < spatial_dim)[None, :]
            at = b[:, None] * feat_dim * spatial_dim + c * spatial_dim + s[None, :]
            dy = tl.load(grad_out + at, mask=mask, other=0.0)
            x = tl.load(inp + at, mask=mask, other=0.0)
            term1 += dy * (x - mean) * inv_std
            term2 += dy
    dgamma = tl.sum(term1)
    dbeta = tl.sum(term2)
    tl.store(grad_weight + c, dgamma)
    tl.store(grad_bias + c, dbeta)

    count = batch_dim * spatial_dim
    for b0 in range(0, tl.cdiv(batch_dim, BLOCK_B)):
        b = b0 * BLOCK_B + tl.arange(0, BLOCK_B)
        for s0 in range(0, tl.cdiv(spatial_dim, BLOCK_S)):
            s = s0 * BLOCK_S + tl.arange(0, BLOCK_S)
            mask = (b < batch_dim)[:, None] & (s < spatial_dim)[None, :]
            at = b[:, None] * feat_dim * spatial_dim + c * spatial_dim + s[None, :]
            dy = tl.load(grad_out + at, mask=mask, other=0.0)
            x = tl.load(inp + at, mask=mask, other=0.0)
            xhat = (x - mean) * inv_std
            dx = weight * inv_std * (dy - (dbeta + xhat * dgamma) / count)
            tl.store(grad_in + at, dx, mask=mask)


def launch(N=3, C=4, H=5, W=7):
    x = torch.randn(N, C, H, W, device="cuda")
    dy = torch.randn(N, C, H, W, device="cuda")
    weight = torch.randn(C, device="cuda")
    mean = x.mean(dim=(0, 2, 3))
    inv_std = torch.rsqrt(x.var(dim=(0, 2, 3), unbiased=False) + 1e-5)
    dx = torch.empty_like(x)
    dw = torch.empty_like(weight)
    db = torch.empty_like(weight)
    batch_norm_backward_kernel[(C,)](
        dy, x, mean, inv_std, weight, dx, dw, db, N, C, H * W
    )
    return dx, dw, db


def reference(x, dy, weight):
    dims = (0, 2, 3)
    mean = x.mean(dims, keepdim=True)
    inv = torch.rsqrt(x.var(dims, unbiased=False, keepdim=True) + 1e-5)
    xhat = (x - mean) * inv
    db, dw = dy.sum(dims), (dy * xhat).sum(dims)
    g = dy - dy.mean(dims, keepdim=True) - xhat * (dy * xhat).mean(dims, keepdim=True)
    return weight[None, :, None, None] * inv * g, dw, db


TRUTH = "verified"
