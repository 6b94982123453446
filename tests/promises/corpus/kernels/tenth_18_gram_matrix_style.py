"""Gram matrices of feature maps for a style loss, G = F·Fᵀ / (C·H·W), the pixels split over programs."""
import torch
import triton
import triton.language as tl


@triton.jit
def gram_kernel(
    f_ptr, g_ptr,
    stride_fn, stride_fc, stride_gn, stride_gc,
    C, P, norm,
    BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr, CHUNK: tl.constexpr,
):
    n = tl.program_id(0)
    split = tl.program_id(1)
    c = tl.arange(0, BLOCK_C)
    acc = tl.zeros((BLOCK_C, BLOCK_C), dtype=tl.float32)
    for start in range(0, CHUNK, BLOCK_P):
        p = split * CHUNK + start + tl.arange(0, BLOCK_P)
        f = tl.load(
            f_ptr + n * stride_fn + c[:, None] * stride_fc + p[None, :],
            mask=(c[:, None] < C) & (p[None, :] < P), other=0.0,
        )
        acc += tl.dot(f, tl.trans(f), input_precision="ieee")
    out = g_ptr + n * stride_gn + c[:, None] * stride_gc + c[None, :]
    tl.atomic_add(out, acc * norm, mask=(c[:, None] < C) & (c[None, :] < C))


def launch(n=2, channels=13, height=11, width=9):
    features = torch.randn(n, channels, height, width, device="cuda")
    pixels = height * width
    gram = torch.empty(n, channels, channels, device="cuda")
    grid = (n, triton.cdiv(pixels, 64))
    gram_kernel[grid](
        features, gram, features.stride(0), features.stride(1), gram.stride(0), gram.stride(1),
        channels, pixels, 1.0 / (channels * pixels),
        BLOCK_C=16, BLOCK_P=32, CHUNK=64,
    )
    return gram


def reference(features):
    n, c, h, w = features.shape
    f = features.reshape(n, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


TRUTH = "broken"
# WHY: the programs add atomically into torch.empty: the sums begin at whatever the memory held; zeros are meant.
