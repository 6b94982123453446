"""Layer norm of each row, however long: mean, variance and result in three passes over column blocks."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, row_stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    out_ptr += row * row_stride
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + lanes
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0)
        centred = tl.where(cols < N, x - mean, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        cols = start + lanes
        inside = cols < N
        x = tl.load(x_ptr + cols, mask=inside)
        weight = tl.load(weight_ptr + cols, mask=inside)
        bias = tl.load(bias_ptr + cols, mask=inside)
        tl.store(out_ptr + cols, (x - mean) * scale * weight + bias, mask=inside)


def launch(M=5, N=150):
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    bias = torch.randn(N, device="cuda")
    out = torch.empty_like(x)
    layer_norm_kernel[(M,)](x, weight, bias, out, x.stride(0), N, 1e-5, BLOCK=64)
    return out


def reference(x, weight, bias):
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, 1e-5)


BROKEN = {
    "mean_is_padded": ("tl.where(cols < N, x - mean, 0.0)", "x - mean", "value", "value"),
    "missing_other": ("total += tl.load(x_ptr + cols, mask=cols < N, other=0.0)",
                      "total += tl.load(x_ptr + cols, mask=cols < N)", "undefined", "value"),
    "mask_le": ("inside = cols < N", "inside = cols <= N", "bounds", "fault"),
    "divided_by_block": ("tl.sum(total, axis=0) / N", "tl.sum(total, axis=0) / BLOCK", "value", "value"),
    "wrong_stride": ("out_ptr += row * row_stride", "out_ptr += row * (row_stride - 1)", "race", "value"),
}
