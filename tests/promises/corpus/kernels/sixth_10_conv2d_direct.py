import torch
import triton
import triton.language as tl


@triton.jit
def conv2d_nchw_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr,
    C, H, W, OC, OH, OW,
    KH: tl.constexpr, KW: tl.constexpr, PAD: tl.constexpr, STRIDE: tl.constexpr,
    BLOCK_P: tl.constexpr, BLOCK_OC: tl.constexpr,
):
    n = tl.program_id(0)
    p = tl.program_id(1) * BLOCK_P + tl.arange(0, BLOCK_P)
    oc = tl.program_id(2) * BLOCK_OC + tl.arange(0, BLOCK_OC)
    oy = p // OW
    ox = p % OW
    p_ok = p < OH * OW
    oc_ok = oc < OC
    acc = tl.zeros((BLOCK_OC, BLOCK_P), dtype=tl.float32)
    for c in range(C):
        for kh in tl.static_range(KH):
            for kw in tl.static_range(KW):
                iy = oy * STRIDE + kh - PAD
                ix = ox * STRIDE + kw - PAD
                inside = p_ok & (iy >= 0) & (iy < H) & (ix >= 0) & (ix < W)
                x = tl.load(x_ptr + ((n * C + c) * H + iy) * W + ix, mask=inside, other=0.0)
                w = tl.load(w_ptr + ((oc * C + c) * KH + kh) * KW + kw, mask=oc_ok, other=0.0)
                acc += w[:, None] * x[None, :]
    acc += tl.load(b_ptr + oc, mask=oc_ok, other=0.0)[:, None]
    tl.store(y_ptr + (n * OC + oc[:, None]) * (OH * OW) + p[None, :], acc, mask=oc_ok[:, None] & p_ok[None, :])


def conv2d(x, weight, bias):
    N, C, H, W = x.shape
    OC, _, KH, KW = weight.shape
    y = torch.empty((N, OC, H, W))
    grid = (N, triton.cdiv(H * W, 32), triton.cdiv(OC, 16))
    conv2d_nchw_kernel[grid](x, weight, bias, y, C, H, W, OC, H, W,
                             KH=KH, KW=KW, PAD=1, STRIDE=1, BLOCK_P=32, BLOCK_OC=16)
    return y


def launch():
    N, C, H, W, OC = 2, 3, 7, 9, 5
    x = torch.randn(N, C, H, W)
    weight = torch.randn(OC, C, 3, 3)
    bias = torch.randn(OC)
    return conv2d(x, weight, bias)


def reference(x, weight, bias):
    return torch.nn.functional.conv2d(x, weight, bias, padding=1)


TRUTH = "verified"
