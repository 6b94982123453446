"""Gray image of an interleaved one of bytes: the mean of red, green and blue, rounded down."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def gray_average_kernel(rgb_ptr, gray_ptr, pixels, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < pixels
    r = tl.load(rgb_ptr + p * 3, mask=mask, other=0)
    g = tl.load(rgb_ptr + p * 3 + 1, mask=mask, other=0)
    b = tl.load(rgb_ptr + p * 3 + 2, mask=mask, other=0)
    tl.store(gray_ptr + p, ((r + g + b) // 3).to(tl.uint8), mask=mask)


def launch():
    rgb = torch.randint(0, 256, (45, 61, 3), dtype=torch.uint8)
    h, w = rgb.shape[:2]
    gray = torch.empty(h, w, dtype=torch.uint8)
    gray_average_kernel[(triton.cdiv(h * w, 256),)](rgb, gray, h * w, BLOCK=256)
    return gray


def reference(rgb):
    return (rgb.to(torch.int32).sum(-1) // 3).to(torch.uint8)
