"""A convolution as a matmul whose left rows are gathered as they are needed (NCHW, stride and padding)."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def conv2d_fwd(
    x_ptr, w_ptr, b_ptr, y_ptr,
    N, C, H, W, OC, OH, OW,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
    BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr,
):
    pix = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    oc = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n = pix // (OH * OW)
    oh = (pix // OW) % OH
    ow = pix % OW
    pix_ok = pix < N * OH * OW
    acc = tl.zeros((BLOCK_P, BLOCK_O), dtype=tl.float32)
    for kh in range(KH):
        for kw in range(KW):
            ih = oh * STRIDE + kh - PAD
            iw = ow * STRIDE + kw - PAD
            ok = pix_ok & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            for c0 in range(0, C, BLOCK_C):
                c = c0 + tl.arange(0, BLOCK_C)
                x = tl.load(x_ptr + ((n[:, None] * C + c[None, :]) * H + ih[:, None]) * W + iw[:, None],
                            mask=ok[:, None] & (c[None, :] < C), other=0.0)
                w = tl.load(w_ptr + ((oc[None, :] * C + c[:, None]) * KH + kh) * KW + kw,
                            mask=(c[:, None] < C) & (oc[None, :] < OC), other=0.0)
                acc += tl.dot(x, w, input_precision="ieee")
    acc += tl.load(b_ptr + oc, mask=oc < OC, other=0.0)[None, :]
    y = y_ptr + ((n[:, None] * OC + oc[None, :]) * OH + oh[:, None]) * OW + ow[:, None]
    tl.store(y, acc, mask=pix_ok[:, None] & (oc[None, :] < OC))


def launch(x, weight, bias):
    N, C, H, W = x.shape
    OC, _, KH, KW = weight.shape
    stride, pad = 2, 1
    OH = (H + 2 * pad - KH) // stride + 1
    OW = (W + 2 * pad - KW) // stride + 1
    y = torch.empty((N, OC, OH, OW), dtype=x.dtype)
    grid = (triton.cdiv(N * OH * OW, 16), triton.cdiv(OC, 16))
    conv2d_fwd[grid](x, weight, bias, y, N, C, H, W, OC, OH, OW, KH, KW, stride, pad,
                     BLOCK_P=16, BLOCK_O=16, BLOCK_C=16)
    return y


def reference(x, weight, bias):
    return F.conv2d(x, weight, bias, stride=2, padding=1)


def inputs(N=2, C=5, H=9, W=12, OC=7):
    return torch.randn(N, C, H, W), torch.randn(OC, C, 3, 3), torch.randn(OC)
