"""Depthwise convolution in two dimensions with stride 2 and padding, a channel and a tile of the output per program."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def depthwise_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, C, H, W, OH, OW,
    sxn, sxc, sxh, sxw, syn, syc, syh, syw,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
):
    pid_nc = tl.program_id(0)
    n = pid_nc // C
    c = pid_nc % C
    oh = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = tl.program_id(2) * BLOCK_W + tl.arange(0, BLOCK_W)
    acc = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.float32)
    for kh in range(KH):
        for kw in range(KW):
            ih = oh * STRIDE - PAD + kh
            iw = ow * STRIDE - PAD + kw
            mask = (ih >= 0)[:, None] & (ih < H)[:, None] & (iw >= 0)[None, :] & (iw < W)[None, :]
            x = tl.load(x_ptr + n * sxn + c * sxc + ih[:, None] * sxh + iw[None, :] * sxw, mask=mask, other=0.0)
            w = tl.load(w_ptr + c * KH * KW + kh * KW + kw)
            acc += x * w
    acc += tl.load(b_ptr + c)
    out_mask = (oh < OH)[:, None] & (ow < OW)[None, :]
    tl.store(y_ptr + n * syn + c * syc + oh[:, None] * syh + ow[None, :] * syw, acc, mask=out_mask)


def launch():
    n, c, h, w = 2, 3, 11, 19
    x = torch.randn(n, c, h, w)
    weight = torch.randn(c, 1, 3, 3)
    bias = torch.randn(c)
    oh = (h + 2 - 3) // 2 + 1
    ow = (w + 2 - 3) // 2 + 1
    y = torch.empty(n, c, oh, ow)
    grid = (n * c, triton.cdiv(oh, 4), triton.cdiv(ow, 8))
    depthwise_kernel[grid](x, weight, bias, y, c, h, w, oh, ow, *x.stride(), *y.stride(), KH=3, KW=3, STRIDE=2, PAD=1, BLOCK_H=4, BLOCK_W=8)
    return y


def reference(x, weight, bias):
    return torch.nn.functional.conv2d(x, weight, bias, stride=2, padding=1, groups=x.shape[1])
