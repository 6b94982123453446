"""5 x 5 bilateral filter of a grey image, borders replicated."""
import torch
import triton
import triton.language as tl


@triton.jit
def bilateral_kernel(
    img_ptr, out_ptr, H, W, stride_h,
    inv_2s2, inv_2r2,
    R: tl.constexpr, BLOCK_W: tl.constexpr,
):
    y = tl.program_id(0)
    x = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    center = tl.load(img_ptr + y * stride_h + tl.minimum(x, W - 1))
    num = tl.zeros((BLOCK_W,), dtype=tl.float32)
    den = tl.zeros((BLOCK_W,), dtype=tl.float32)
    for dy in tl.static_range(-R, R + 1):
        for dx in tl.static_range(-R, R + 1):
            yy = tl.minimum(tl.maximum(y + dy, 0), H - 1)
            xx = tl.minimum(tl.maximum(x + dx, 0), W - 1)
            v = tl.load(img_ptr + yy * stride_h + xx)
            diff = v - center
            w = tl.exp(-(dx * dx + dy * dy) * inv_2s2 - diff * diff * inv_2r2)
            num += w * v
            den += w
    tl.store(out_ptr + y * stride_h + x, num / den)


def launch(H=9, W=37):
    img = torch.rand(H, W, device="cuda")
    out = torch.empty_like(img)
    grid = lambda meta: (H, triton.cdiv(W, meta["BLOCK_W"]))
    bilateral_kernel[grid](img, out, H, W, img.stride(0), 0.125, 8.0, R=2, BLOCK_W=32)
    return out


def reference(img):
    H, W = img.shape
    padded = torch.nn.functional.pad(img[None, None], (2, 2, 2, 2), mode="replicate")[0, 0]
    num = torch.zeros_like(img)
    den = torch.zeros_like(img)
    for dy in range(5):
        for dx in range(5):
            v = padded[dy : dy + H, dx : dx + W]
            w = torch.exp(-((dx - 2) ** 2 + (dy - 2) ** 2) * 0.125 - (v - img) ** 2 * 8.0)
            num = num + w * v
            den = den + w
    return num / den


TRUTH = "broken"
# WHY: the store has no mask: lanes past the end of a row write into the next one (a race with its programs), and past the image
# in the last row. The loads are clamped and do no harm.
