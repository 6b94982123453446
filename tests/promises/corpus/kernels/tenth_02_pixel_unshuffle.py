"""Space-to-depth (PixelUnshuffle): (N, C, H·r, W·r) to (N, C·r², H, W), one program for each row of the result."""
import torch
import triton
import triton.language as tl


@triton.jit
def pixel_unshuffle_kernel(
    x_ptr, y_ptr,
    C, H_out, W_out,
    stride_xn, stride_xc, stride_xh,
    R: tl.constexpr, BLOCK_W: tl.constexpr,
):
    row = tl.program_id(0)                 # (n, c, i, j, h)
    h = row % H_out
    rest = row // H_out
    j = rest % R
    rest = rest // R
    i = rest % R
    rest = rest // R
    c = rest % C
    n = rest // C

    w = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = w < W_out
    src = x_ptr + n * stride_xn + c * stride_xc + (h * R + i) * stride_xh + w * R + j
    value = tl.load(src, mask=mask)
    out_channel = (c * R + i) * R + j
    dst = y_ptr + ((n * C * R * R + out_channel) * H_out + h) * W_out + w
    tl.store(dst, value, mask=mask)


def pixel_unshuffle(x, r):
    n, c, height, width = x.shape
    h, w = height // r, width // r
    y = torch.empty(n, c * r * r, h, w, device=x.device, dtype=x.dtype)
    BLOCK_W = 32
    grid = (n * c * r * r * h, triton.cdiv(w, BLOCK_W))
    pixel_unshuffle_kernel[grid](
        x, y, c, h, w, x.stride(0), x.stride(1), x.stride(1) // width, R=r, BLOCK_W=BLOCK_W,
    )
    return y


def launch(n=2, c=3, h=5, w=7):
    x = torch.randn(n, c, h * 2, w * 2, device="cuda")
    return pixel_unshuffle(x, 2)


def reference(x):
    return torch.nn.functional.pixel_unshuffle(x, 2)


TRUTH = "broken"
# WHY: the row stride that is passed is stride(1) // width = the image's height, where stride(2), its width, is meant;
# right for square images only.
