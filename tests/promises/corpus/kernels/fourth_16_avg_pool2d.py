"""Average pooling of 3 × 3 with stride 2 and padding 1, the padding left out of the count; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def avg_pool2d_kernel(
    x_ptr, y_ptr, H, W, OH, OW,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
):
    nc = tl.program_id(0)
    tiles_w = tl.cdiv(OW, BLOCK_W)
    tile = tl.program_id(1)
    oh = (tile // tiles_w) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = (tile % tiles_w) * BLOCK_W + tl.arange(0, BLOCK_W)
    acc = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.float32)
    count = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.int32)
    for kh in tl.static_range(0, KH):
        for kw in tl.static_range(0, KW):
            ih = oh * STRIDE - PAD + kh
            iw = ow * STRIDE - PAD + kw
            inside = ((ih >= 0) & (ih < H))[:, None] & ((iw >= 0) & (iw < W))[None, :]
            acc += tl.load(x_ptr + nc * H * W + ih[:, None] * W + iw[None, :], mask=inside, other=0.0)
            count += tl.where(inside, 1, 0)
    mean = acc / tl.where(count > 0, count, 1).to(tl.float32)
    tl.store(y_ptr + nc * OH * OW + oh[:, None] * OW + ow[None, :], mean, mask=(oh < OH)[:, None] & (ow < OW)[None, :])


def avg_pool2d(x):
    B, C, H, W = x.shape
    OH = (H + 2 - 3) // 2 + 1
    OW = (W + 2 - 3) // 2 + 1
    y = torch.empty(B, C, OH, OW)
    BH, BW = 4, 8
    avg_pool2d_kernel[(B * C, triton.cdiv(OH, BH) * triton.cdiv(OW, BW))](
        x, y, H, W, OH, OW, KH=3, KW=3, STRIDE=2, PAD=1, BLOCK_H=BH, BLOCK_W=BW)
    return y


def launch(B=2, C=3, H=19, W=22):
    x = torch.randn(B, C, H, W)
    return avg_pool2d(x)


def reference(x):
    return torch.nn.functional.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
