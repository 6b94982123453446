"""LLM serving: residual += x; x = rmsnorm(residual) * w, both in place (vLLM's fused_add_rms_norm), fp16, row tiles in a loop."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm_kernel(
    x_ptr, res_ptr, w_ptr,
    stride_x, stride_r,
    n_cols, eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_x
    res_ptr += row * stride_r
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        s = x + r
        acc += s * s
        tl.store(res_ptr + cols, s.to(res_ptr.dtype.element_ty), mask=mask)
    rstd = tl.rsqrt(tl.sum(acc, axis=0) / n_cols + eps)
    tl.debug_barrier()
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        s = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(x_ptr + cols, (s * rstd * w).to(x_ptr.dtype.element_ty), mask=mask)


def launch(tokens=6, hidden=200):
    x = torch.randn(tokens, hidden, device="cuda", dtype=torch.float16)
    residual = torch.randn(tokens, hidden, device="cuda", dtype=torch.float16)
    weight = torch.randn(hidden, device="cuda", dtype=torch.float16)
    fused_add_rms_norm_kernel[(tokens,)](
        x, residual, weight, x.stride(0), residual.stride(0), hidden, 1e-6, BLOCK=64, num_warps=4
    )
    return x, residual


def reference(x, residual, weight):
    s = x.float() + residual.float()
    out = s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-6) * weight.float()
    return out.to(x.dtype), s.to(x.dtype)

TRUTH = "verified"
