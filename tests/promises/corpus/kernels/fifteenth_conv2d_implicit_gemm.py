"""3x3 convolution with stride 2 and padding 1 as an implicit GEMM (NCHW), reduction index split into channel and tap, bias and ReLU in the epilogue."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(x_ptr, w_ptr, b_ptr, y_ptr, N, C, H, W, O, OH, OW,
                  R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    n = rm // (OH * OW)
    oh = (rm // OW) % OH
    ow = rm % OW
    total = C * R * S
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, total, BK):
        rk = k0 + tl.arange(0, BK)
        c = rk // (R * S)
        r = (rk // S) % R
        s = rk % S
        ih = oh[:, None] * STRIDE - PAD + r[None, :]
        iw = ow[:, None] * STRIDE - PAD + s[None, :]
        inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (n[:, None] < N) & (rk[None, :] < total)
        x = tl.load(x_ptr + ((n[:, None] * C + c[None, :]) * H + ih) * W + iw, mask=inside, other=0.0)
        w = tl.load(w_ptr + rn[None, :] * total + rk[:, None], mask=(rn[None, :] < O) & (rk[:, None] < total), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    acc += tl.load(b_ptr + rn, mask=rn < O, other=0.0)[None, :]
    acc = tl.maximum(acc, 0.0)
    y = y_ptr + ((n[:, None] * O + rn[None, :]) * OH + oh[:, None]) * OW + ow[:, None]
    tl.store(y, acc, mask=(n[:, None] < N) & (rn[None, :] < O))


def launch(N=2, C=5, H=9, W=12, O=20):
    x = torch.randn(N, C, H, W, device="cuda")
    weight = torch.randn(O, C, 3, 3, device="cuda")
    bias = torch.randn(O, device="cuda")
    OH, OW = (H + 2 - 3) // 2 + 1, (W + 2 - 3) // 2 + 1
    y = torch.empty(N, O, OH, OW, device="cuda")
    grid = (triton.cdiv(N * OH * OW, 32), triton.cdiv(O, 16))
    conv2d_kernel[grid](x, weight, bias, y, N, C, H, W, O, OH, OW, R=3, S=3, STRIDE=2, PAD=1, BM=32, BN=16, BK=16)
    return y


def reference(x, weight, bias):
    return F.relu(F.conv2d(x, weight, bias, stride=2, padding=1))
TRUTH = "verified"
