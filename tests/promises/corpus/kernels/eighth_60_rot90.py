# broken: rows of the turned image are stored W apart where they are H long (right only for square images)
import torch
import triton
import triton.language as tl


@triton.jit
def rot90_kernel(x_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    c = tl.program_id(2)
    i = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    j = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    mask = (i < H) & (j < W)
    x = tl.load(x_ptr + c * H * W + i * W + j, mask=mask)
    tl.store(out_ptr + c * H * W + (W - 1 - j) * W + i, x, mask=mask)


def launch(C=3, H=12, W=20):
    x = torch.randn(C, H, W, device="cuda")
    out = torch.empty(C, W, H, device="cuda")
    rot90_kernel[(triton.cdiv(H, 8), triton.cdiv(W, 8), C)](x, out, H, W, BH=8, BW=8)
    return out


def reference(x):
    return torch.rot90(x, 1, dims=(1, 2))


TRUTH = "broken"
