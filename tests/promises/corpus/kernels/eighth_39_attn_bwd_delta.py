import torch
import triton
import triton.language as tl


@triton.jit
def delta_kernel(o_ptr, do_ptr, delta_ptr, T, H, stride_b, stride_t, stride_h, BM: tl.constexpr, D: tl.constexpr):
    bh = tl.program_id(1)
    b = bh // H
    h = bh % H
    t = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    offs = b * stride_b + h * stride_h + t[:, None] * stride_t + d[None, :]
    mask = t[:, None] < T
    o = tl.load(o_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(delta_ptr + bh * T + t, tl.sum(o * do, axis=1), mask=t < T)


def launch(B=2, T=20, H=3):
    o = torch.randn(B, T, H, 32, device="cuda")
    do = torch.randn(B, T, H, 32, device="cuda")
    delta = torch.empty(B, H, T, device="cuda")
    delta_kernel[(triton.cdiv(T, 16), B * H)](o, do, delta, T, H, o.stride(0), o.stride(1), o.stride(2), BM=16, D=32)
    return delta


def reference(o, do):
    return (o * do).sum(-1).transpose(1, 2)


TRUTH = "verified"
