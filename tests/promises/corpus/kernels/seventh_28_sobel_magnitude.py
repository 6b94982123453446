"""Sobel edges of a batch of gray images; pixels behind the border repeat the border."""
import torch
import triton
import triton.language as tl


@triton.jit
def _pixel(base, y, x, H, W, mask):
    yy = tl.minimum(tl.maximum(y, 0), H - 1)
    xx = tl.minimum(tl.maximum(x, 0), W - 1)
    return tl.load(base + yy * W + xx, mask=mask, other=0.0)


@triton.jit
def sobel_kernel(img, out, H, W, BLOCK: tl.constexpr):
    n = tl.program_id(1)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < H * W
    y = p // W
    x = p % W
    base = img + n * H * W
    a = _pixel(base, y - 1, x - 1, H, W, mask)
    b = _pixel(base, y - 1, x, H, W, mask)
    c = _pixel(base, y - 1, x + 1, H, W, mask)
    d = _pixel(base, y, x - 1, H, W, mask)
    f = _pixel(base, y, x + 1, H, W, mask)
    g = _pixel(base, y + 1, x - 1, H, W, mask)
    h = _pixel(base, y + 1, x, H, W, mask)
    i = _pixel(base, y + 1, x + 1, H, W, mask)
    gx = (c - a) + 2.0 * (f - d) + (i - g)
    gy = (g - a) + 2.0 * (h - b) + (i - c)
    tl.store(out + n * H * W + p, tl.sqrt(gx * gx + gy * gy), mask=mask)


def launch(n=2, H=9, W=14):
    img = torch.rand(n, H, W, device="cuda")
    edges = torch.empty_like(img)
    sobel_kernel[(triton.cdiv(H * W, 64), n)](img, edges, H, W, BLOCK=64)
    return edges


def reference(img):
    p = torch.nn.functional.pad(img[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    top, mid, bot = p[:, :-2], p[:, 1:-1], p[:, 2:]
    smooth_y = top + 2 * mid + bot
    gx = smooth_y[:, :, 2:] - smooth_y[:, :, :-2]
    diff_y = bot - top
    gy = diff_y[:, :, :-2] + 2 * diff_y[:, :, 1:-1] + diff_y[:, :, 2:]
    return torch.sqrt(gx**2 + gy**2)


TRUTH = "verified"
