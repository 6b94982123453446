"""Residual add fused with RMS norm as in serving engines: residual updated in place, row walked twice in tiles, fp16 in, fp32 inside."""
import torch
import triton
import triton.language as tl


@triton.jit
def _fused_add_rms_norm_kernel(
    x_ptr, res_ptr, w_ptr, out_ptr,
    x_stride, res_stride, out_stride,
    hidden, eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    res_ptr += row * res_stride
    out_ptr += row * out_stride

    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, hidden, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < hidden
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        s = x + r
        acc += s * s
    rstd = tl.rsqrt(tl.sum(acc, axis=0) / hidden + eps)

    for start in range(0, hidden, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < hidden
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(res_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        s = x + r
        tl.store(res_ptr + cols, s.to(res_ptr.dtype.element_ty), mask=mask)
        tl.store(out_ptr + cols, (s * rstd * w).to(out_ptr.dtype.element_ty), mask=mask)


def fused_add_rms_norm(x, residual, weight, eps):
    hidden = x.shape[-1]
    out = torch.empty_like(x)
    _fused_add_rms_norm_kernel[(x.shape[0],)](
        x, residual, weight, out,
        x.stride(0), residual.stride(0), out.stride(0),
        hidden, eps, BLOCK=64, num_warps=4,
    )
    return out, residual


def launch(tokens=5, hidden=150):
    x = torch.randn(tokens, hidden, device="cuda", dtype=torch.float16)
    residual = torch.randn(tokens, hidden, device="cuda", dtype=torch.float16)
    weight = torch.randn(hidden, device="cuda", dtype=torch.float16)
    return fused_add_rms_norm(x, residual, weight, 1e-6)


def reference(x, residual, weight):
    s = x.float() + residual.float()
    y = s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()
    return y.to(x.dtype), s.to(x.dtype)

TRUTH = "verified"
