import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def max_pool_kernel(in_ptr, out_ptr, xnumel, HO, WO, W, XBLOCK: tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = x < xnumel
    col = x % WO
    row = (x // WO) % HO
    plane = x // (WO * HO)
    base = in_ptr + plane * (4 * HO * WO) + 2 * row * W + 2 * col
    a = tl.load(base, xmask)
    b = tl.load(base + 1, xmask)
    c = tl.load(base + W, xmask)
    d = tl.load(base + W + 1, xmask)
    tl.store(out_ptr + x, tl.maximum(tl.maximum(a, b), tl.maximum(c, d)), xmask)


def launch(N=2, C=3, H=8, W=10):
    x = torch.randn(N, C, H, W, device="cuda")
    out = torch.empty(N, C, H // 2, W // 2, device="cuda")
    xnumel = N * C * (H // 2) * (W // 2)
    max_pool_kernel[(triton.cdiv(xnumel, 64),)](x, out, xnumel, H // 2, W // 2, W, XBLOCK=64)
    return out


launch.assume = ["H % 2 == 0", "W % 2 == 0"]


def reference(x):
    return F.max_pool2d(x, 2)


TRUTH = "verified"
