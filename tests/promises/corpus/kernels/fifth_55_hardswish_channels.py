"""Inductor-like pointwise kernel with dynamic sizes: channel bias, channel scale and hardswish on NCHW."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def triton_poi_fused_add_hardswish_mul_0(in_ptr0, in_ptr1, in_ptr2, out_ptr0, ks0, ks1, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x1 = (xindex // ks0) % ks1
    tmp0 = tl.load(in_ptr0 + x3, xmask)
    tmp1 = tl.load(in_ptr1 + x1, xmask, eviction_policy="evict_last")
    tmp3 = tl.load(in_ptr2 + x1, xmask, eviction_policy="evict_last")
    tmp2 = tmp0 * tmp1
    tmp4 = tmp2 + tmp3
    tmp5 = 3.0
    tmp6 = tmp4 + tmp5
    tmp7 = 0.0
    tmp8 = tl.maximum(tmp6, tmp7)
    tmp9 = 6.0
    tmp10 = tl.minimum(tmp8, tmp9)
    tmp11 = tmp4 * tmp10
    tmp12 = 0.16666666666666666
    tmp13 = tmp11 * tmp12
    tl.store(out_ptr0 + x3, tmp13, xmask)


def launch():
    x = torch.randn(3, 20, 13, 15) * 3
    scale = torch.randn(20)
    bias = torch.randn(20)
    out = torch.empty_like(x)
    b, c, h, w = x.shape
    n = x.numel()
    triton_poi_fused_add_hardswish_mul_0[(triton.cdiv(n, 512),)](x, scale, bias, out, h * w, c, n, XBLOCK=512)
    return out


def reference(x, scale, bias):
    return F.hardswish(x * scale[None, :, None, None] + bias[None, :, None, None])
