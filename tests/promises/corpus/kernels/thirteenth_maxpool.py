"""maxpool, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _max_pool2d_kernel(
    x_ptr,
    out_ptr,
    stride_nc,
    stride_h,
    H,
    W,
    OH,
    OW,
    KERNEL: tl.constexpr,
    STRIDE: tl.constexpr,
    PAD: tl.constexpr,
    BLOCK: tl.constexpr,
):
    nc = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < OH * OW
    oh = offs // OW
    ow = offs % OW
    best = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    for i in tl.static_range(KERNEL):
        for j in tl.static_range(KERNEL):
            h = oh * STRIDE - PAD + i
            w = ow * STRIDE - PAD + j
            inside = mask & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            v = tl.load(x_ptr + nc * stride_nc + h * stride_h + w, mask=inside, other=0.0)
            best = tl.maximum(best, v)
    tl.store(out_ptr + nc * OH * OW + offs, best, mask=mask)


def max_pool2d(x, kernel=3, stride=2, pad=1):
    N, C, H, W = x.shape
    OH = (H + 2 * pad - kernel) // stride + 1
    OW = (W + 2 * pad - kernel) // stride + 1
    out = torch.empty((N, C, OH, OW), dtype=x.dtype, device=x.device)
    grid = lambda meta: (N * C, triton.cdiv(OH * OW, meta["BLOCK"]))
    _max_pool2d_kernel[grid](
        x, out, x.stride(1), x.stride(2), H, W, OH, OW, KERNEL=kernel, STRIDE=stride, PAD=pad, BLOCK=64
    )
    return out


def launch(batch=2, channels=3, height=17, width=20):
    x = torch.randn(batch, channels, height, width, device="cuda")
    return max_pool2d(x)


def reference(x):
    return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)


TRUTH = "broken"
