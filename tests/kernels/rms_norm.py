"""RMSNorm: each row divided by its root mean square, times a weight; one row in one tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, row_stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + cols, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    tl.store(out_ptr + row * row_stride + cols, x * scale * weight, mask=inside)


def launch(M=5, N=100):
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    out = torch.empty_like(x)
    rms_norm_kernel[(M,)](x, weight, out, x.stride(0), N, 1e-6, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


BROKEN = {
    "missing_other": ("+ row * row_stride + cols, mask=inside, other=0.0)", "+ row * row_stride + cols, mask=inside)",
                      "undefined", "value"),
    "divided_by_block": ("axis=0) / N", "axis=0) / BLOCK", "value", "value"),
    "mask_le": ("inside = cols < N", "inside = cols <= N", "bounds", "fault"),
    "not_squared": ("tl.sum(x * x, axis=0)", "tl.sum(x, axis=0)", "value", "value"),
    "weight_forgotten": ("x * scale * weight", "x * scale", "value", "value"),
}
