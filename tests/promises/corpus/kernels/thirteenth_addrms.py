"""addrms, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _fused_add_rms_norm_kernel(
    x_ptr,
    residual_ptr,
    weight_ptr,
    x_row_stride,
    residual_row_stride,
    n_cols,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_row_stride
    residual_ptr += row * residual_row_stride

    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(residual_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        r += x
        tl.store(residual_ptr + cols, r, mask=mask)
        acc += r * r
    rstd = tl.rsqrt(tl.sum(acc, axis=0) / n_cols + eps)

    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        r = tl.load(residual_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(x_ptr + cols, r * rstd * w, mask=mask)


def fused_add_rms_norm(x, residual, weight, eps=1e-6):
    assert x.shape == residual.shape and x.stride(-1) == 1
    n_rows, n_cols = x.shape
    _fused_add_rms_norm_kernel[(n_rows,)](
        x, residual, weight, x.stride(0), residual.stride(0), n_cols, eps, BLOCK_SIZE=128, num_warps=4
    )
    return x, residual


def launch(tokens=5, hidden=300):
    x = torch.randn(tokens, hidden, device="cuda")
    residual = torch.randn(tokens, hidden, device="cuda")
    weight = torch.randn(hidden, device="cuda")
    return fused_add_rms_norm(x, residual, weight)


def reference(x, residual, weight):
    h = x + residual
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * weight, h


TRUTH = "verified"
