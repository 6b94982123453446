"""Bilinear enlargement of planes by two, with half-pixel centres."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def bilinear2x_kernel(src, dst, H, W, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    out_h, out_w = 2 * H, 2 * W
    plane, y = row // out_h, row % out_h
    x = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = x < out_w
    # source coordinate (i + 0.5) / 2 - 0.5, in quarters: 2 i - 1 over 4
    y0 = tl.maximum((2 * y + 3) // 4 - 1, 0)
    x0 = tl.maximum((2 * x + 3) // 4 - 1, 0)
    fy = tl.maximum((2 * y - 1) / 4.0 - y0, 0.0)
    fx = tl.maximum((2 * x - 1) / 4.0 - x0, 0.0)
    y1 = y0 + 1
    x1 = tl.minimum(x0 + 1, W - 1)
    base = src + plane * H * W
    a = tl.load(base + y0 * W + x0, mask=mask, other=0.0)
    b = tl.load(base + y0 * W + x1, mask=mask, other=0.0)
    c = tl.load(base + y1 * W + x0, mask=mask, other=0.0)
    d = tl.load(base + y1 * W + x1, mask=mask, other=0.0)
    top = a + (b - a) * fx
    bottom = c + (d - c) * fx
    tl.store(dst + row * out_w + x, top + (bottom - top) * fy, mask=mask)


def launch():
    image = torch.rand(3, 18, 50)
    C, H, W = image.shape
    out = torch.empty(C, 2 * H, 2 * W)
    bilinear2x_kernel[(C * 2 * H, triton.cdiv(2 * W, 64))](image, out, H, W, BLOCK=64)
    return out


def reference(image):
    return F.interpolate(image[None], scale_factor=2.0, mode="bilinear", align_corners=False)[0]
