"""Separable five-tap blur of planes with replicated borders: a pass along rows, then one along columns."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def blur_rows_kernel(src, dst, taps, H, W, RADIUS: tl.constexpr, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    x = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = x < W
    acc = tl.zeros([BLOCK_W], dtype=tl.float32)
    for k in tl.static_range(2 * RADIUS + 1):
        xs = tl.minimum(tl.maximum(x + k - RADIUS, 0), W - 1)
        acc += tl.load(taps + k) * tl.load(src + row * W + xs, mask=mask, other=0.0)
    tl.store(dst + row * W + x, acc, mask=mask)


@triton.jit
def blur_cols_kernel(src, dst, taps, H, W, RADIUS: tl.constexpr, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    plane, y = row // H, row % H
    x = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = x < W
    acc = tl.zeros([BLOCK_W], dtype=tl.float32)
    for k in tl.static_range(2 * RADIUS + 1):
        ys = tl.minimum(tl.maximum(y + k - RADIUS, 0), H - 1)
        acc += tl.load(taps + k) * tl.load(src + (plane * H + ys) * W + x, mask=mask, other=0.0)
    tl.store(dst + row * W + x, acc, mask=mask)


def launch():
    image = torch.rand(3, 30, 100)
    taps = torch.tensor([0.0625, 0.25, 0.375, 0.25, 0.0625])
    C, H, W = image.shape
    middle = torch.empty_like(image)
    out = torch.empty_like(image)
    grid = (C * H, triton.cdiv(W, 64))
    blur_rows_kernel[grid](image, middle, taps, H, W, RADIUS=2, BLOCK_W=64)
    blur_cols_kernel[grid](middle, out, taps, H, W, RADIUS=2, BLOCK_W=64)
    return out


def reference(image, taps):
    h, w = image.shape[1], image.shape[2]
    wide = F.pad(image, (2, 2), mode="replicate")
    rows = sum(taps[k] * wide[:, :, k:k + w] for k in range(5))
    tall = F.pad(rows[None], (0, 0, 2, 2), mode="replicate")[0]
    return sum(taps[k] * tall[:, k:k + h] for k in range(5))
