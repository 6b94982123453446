"""Bilinear 2x upsampling (align_corners=False); BUG: the lower row index is clamped with W - 1 instead of H - 1, so the last rows read the next plane, or past the end."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def upsample_bilinear2x(x_ptr, y_ptr, H, W, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    OW = 2 * W
    mask = i < 4 * H * W
    oy = i // OW
    ox = i % OW
    sy = tl.maximum((oy.to(tl.float32) + 0.5) * 0.5 - 0.5, 0.0)
    sx = tl.maximum((ox.to(tl.float32) + 0.5) * 0.5 - 0.5, 0.0)
    y0 = sy.to(tl.int32)
    x0 = sx.to(tl.int32)
    y1 = tl.minimum(y0 + 1, W - 1)
    x1 = tl.minimum(x0 + 1, W - 1)
    fy = sy - y0
    fx = sx - x0
    src = x_ptr + plane * H * W
    a = tl.load(src + y0 * W + x0, mask=mask, other=0.0)
    b = tl.load(src + y0 * W + x1, mask=mask, other=0.0)
    c = tl.load(src + y1 * W + x0, mask=mask, other=0.0)
    d = tl.load(src + y1 * W + x1, mask=mask, other=0.0)
    top = a + (b - a) * fx
    bot = c + (d - c) * fx
    tl.store(y_ptr + plane * 4 * H * W + i, top + (bot - top) * fy, mask=mask)


def launch(N=2, C=3, H=6, W=9):
    x = torch.randn(N, C, H, W, device="cuda")
    y = torch.empty(N, C, 2 * H, 2 * W, device="cuda")
    upsample_bilinear2x[(N * C, triton.cdiv(4 * H * W, 128))](x, y, H, W, BLOCK=128)
    return y


def reference(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
TRUTH = "broken"
