"""Gradients of RMSNorm: of the input by rows, of the weight as partial sums over chunks of rows, added at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def backward_kernel(dy_ptr, x_ptr, weight_ptr, dx_ptr, partial_ptr, row_stride, M, N, eps, BLOCK: tl.constexpr):
    chunk = tl.program_id(0).to(tl.int64)
    first = (chunk * M // tl.num_programs(0)).to(tl.int32)
    last = ((chunk + 1) * M // tl.num_programs(0)).to(tl.int32)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    weight = tl.load(weight_ptr + cols, mask=inside, other=0.0)
    partial = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(first, last):
        x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0)
        dy = tl.load(dy_ptr + row * row_stride + cols, mask=inside, other=0.0)
        scale = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
        along = tl.sum(dy * weight * x, axis=0) / N
        tl.store(dx_ptr + row * row_stride + cols, scale * (dy * weight - x * along * scale * scale), mask=inside)
        partial += dy * x * scale
    tl.store(partial_ptr + chunk * N + cols, partial, mask=inside)


def launch(M=11, N=50):
    dy = torch.randn(M, N, device="cuda")
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    dx = torch.empty_like(x)
    partial = torch.empty(4, N, device="cuda")
    backward_kernel[(4,)](dy, x, weight, dx, partial, x.stride(0), M, N, 1e-6, BLOCK=triton.next_power_of_2(N))
    return dx, partial.sum(dim=0)


def reference(dy, x, weight):
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    along = (dy * weight * x).mean(-1, keepdim=True)
    return scale * (dy * weight - x * along * scale * scale), (dy * x * scale).sum(0)


BROKEN = {
    "chunk_of_32_bits": ("tl.program_id(0).to(tl.int64)", "tl.program_id(0)", "overflow", "proof"),
    "chunks_overlap": ("last = ((chunk + 1) * M //", "last = ((chunk + 1) * M + 3 //", "bounds", "fault"),
    "last_row_missing": ("range(first, last)", "range(first, last - 1)", "coverage", "value"),
    "not_initialised": ("partial += dy", "partial = dy", "value", "value"),
    "missing_other": ("dy_ptr + row * row_stride + cols, mask=inside, other=0.0",
                      "dy_ptr + row * row_stride + cols, mask=inside", "undefined", "value"),
}
