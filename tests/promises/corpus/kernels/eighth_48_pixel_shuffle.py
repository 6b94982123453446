import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def pixel_shuffle_kernel(x_ptr, out_ptr, total, C, H, W, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o < total
    ow = o % (2 * W)
    oh = (o // (2 * W)) % (2 * H)
    c = (o // (4 * H * W)) % C
    b = o // (4 * H * W * C)
    channel = 4 * c + 2 * (oh % 2) + ow % 2
    src = ((b * 4 * C + channel) * H + oh // 2) * W + ow // 2
    tl.store(out_ptr + o, tl.load(x_ptr + src, mask=mask), mask=mask)


def launch(B=2, C=3, H=4, W=5):
    x = torch.randn(B, 4 * C, H, W, device="cuda")
    out = torch.empty(B, C, 2 * H, 2 * W, device="cuda")
    total = out.numel()
    pixel_shuffle_kernel[(triton.cdiv(total, 128),)](x, out, total, C, H, W, BLOCK=128)
    return out


def reference(x):
    return F.pixel_shuffle(x, 2)


TRUTH = "verified"
