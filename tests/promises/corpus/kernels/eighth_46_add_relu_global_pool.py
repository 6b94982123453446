import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def pool_kernel(x_ptr, r_ptr, out_ptr, channels, HW, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < channels
    rbase = tl.arange(0, RBLOCK)[None, :]
    acc = tl.full([XBLOCK, RBLOCK], 0.0, tl.float32)
    for roffset in range(0, HW, RBLOCK):
        rindex = roffset + rbase
        mask = (rindex < HW) & xmask
        a = tl.load(x_ptr + rindex + HW * xindex, mask=mask, other=0.0)
        b = tl.load(r_ptr + rindex + HW * xindex, mask=mask, other=0.0)
        y = tl.maximum(a + b, 0.0)
        acc = tl.where(mask, acc + y, acc)
    total = tl.sum(acc, 1)[:, None]
    tl.store(out_ptr + xindex, total / HW, mask=xmask)


def launch(B=2, C=5, H=6, W=7):
    x = torch.randn(B, C, H, W, device="cuda")
    residual = torch.randn(B, C, H, W, device="cuda")
    out = torch.empty(B, C, device="cuda")
    pool_kernel[(triton.cdiv(B * C, 4),)](x, residual, out, B * C, H * W, XBLOCK=4, RBLOCK=32)
    return out


def reference(x, residual):
    return F.relu(x + residual).mean(dim=(2, 3))


TRUTH = "verified"
