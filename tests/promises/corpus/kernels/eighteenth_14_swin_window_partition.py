"""Swin transformer: cyclic shift by half a window and partition of an NHWC feature map into 4 x 4 windows, in one copy."""
import torch
import triton
import triton.language as tl


@triton.jit
def shift_window_partition_kernel(
    x_ptr, out_ptr,
    H, W, C, windows_h, windows_w,
    stride_xb, stride_xh, stride_xw,
    stride_ow, stride_ot,
    WINDOW: tl.constexpr, SHIFT: tl.constexpr, BLOCK_C: tl.constexpr,
):
    window = tl.program_id(0)
    token = tl.program_id(1)
    b = window // (windows_h * windows_w)
    wh = (window // windows_w) % windows_h
    ww = window % windows_w

    h = (wh * WINDOW + token // WINDOW + SHIFT) % H
    w = (ww * WINDOW + token % WINDOW + SHIFT) % W
    src = x_ptr + b * stride_xb + h * stride_xh + w * stride_xw
    dst = out_ptr + window * stride_ow + token * stride_ot
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        tl.store(dst + c, tl.load(src + c, mask=c < C), mask=c < C)


def launch(B=2, windows_h=3, windows_w=2, C=40):
    WINDOW = 4
    H, W = WINDOW * windows_h, WINDOW * windows_w
    x = torch.randn(B, H, W, C, device="cuda")
    out = torch.empty(B * windows_h * windows_w, WINDOW * WINDOW, C, device="cuda")
    shift_window_partition_kernel[(B * windows_h * windows_w, WINDOW * WINDOW)](
        x, out,
        H, W, C, windows_h, windows_w,
        x.stride(0), x.stride(1), x.stride(2),
        out.stride(0), out.stride(1),
        WINDOW=WINDOW, SHIFT=WINDOW // 2, BLOCK_C=32,
    )
    return out


def reference(x):
    B, H, W, C = x.shape
    x = torch.roll(x, shifts=(-2, -2), dims=(1, 2))
    x = x.view(B, H // 4, 4, W // 4, 4, C).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(-1, 16, C)

TRUTH = "verified"
