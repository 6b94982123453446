import torch
import triton
import triton.language as tl


@triton.jit
def ycbcr_kernel(rgb_ptr, out_ptr, pixels, total, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < total
    base = (i // pixels) * 3 * pixels + i % pixels
    r = tl.load(rgb_ptr + base, mask=mask, other=0.0)
    g = tl.load(rgb_ptr + base + pixels, mask=mask, other=0.0)
    b = tl.load(rgb_ptr + base + 2 * pixels, mask=mask, other=0.0)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    cb = (b - y) * 0.564 + 0.5
    cr = (r - y) * 0.713 + 0.5
    tl.store(out_ptr + base, y, mask=mask)
    tl.store(out_ptr + base + pixels, cb, mask=mask)
    tl.store(out_ptr + base + 2 * pixels, cr, mask=mask)


def launch(B=2, H=9, W=11):
    rgb = torch.rand(B, 3, H, W, device="cuda")
    out = torch.empty_like(rgb)
    total = B * H * W
    ycbcr_kernel[(triton.cdiv(total, 128),)](rgb, out, H * W, total, BLOCK=128)
    return out


def reference(rgb):
    r, g, b = rgb[:, 0], rgb[:, 1], rgb[:, 2]
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return torch.stack([y, 0.564 * (b - y) + 0.5, 0.713 * (r - y) + 0.5], dim=1)


TRUTH = "verified"
