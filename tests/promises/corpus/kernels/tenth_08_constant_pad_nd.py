"""What Inductor writes for F.pad(x, (1, 2, 3, 0), value=0.5) + bias[None, :, None, None]."""
import torch
import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_constant_pad_nd_0(in_ptr0, in_ptr1, out_ptr0, ks0, ks1, ks2, ks3, ks4, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % ks0
    x1 = (xindex // ks0) % ks1
    x4 = xindex // (ks0 * ks1)
    x2 = x4 % ks4
    x3 = xindex
    tmp0 = (-3) + x1
    tmp1 = tl.full([1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = (-1) + x0
    tmp4 = tmp3 >= tmp1
    tmp5 = tmp3 < ks3
    tmp6 = tmp2 & tmp4
    tmp7 = tmp6 & tmp5
    tmp8 = tl.load(in_ptr0 + (tmp3 + ks3 * tmp0 + ks2 * ks3 * x4), tmp7 & xmask, eviction_policy="evict_last", other=0.0)
    tmp9 = tl.where(tmp7, tmp8, 0.5)
    tmp10 = tl.load(in_ptr1 + x2, xmask, eviction_policy="evict_last")
    tmp11 = tmp9 + tmp10
    tl.store(out_ptr0 + x3, tmp11, xmask)


def launch(n=2, c=3, h=7, w=9):
    x = torch.randn(n, c, h, w, device="cuda")
    bias = torch.randn(c, device="cuda")
    out = torch.empty(n, c, h + 3, w + 3, device="cuda")
    xnumel = out.numel()
    grid = lambda meta: (triton.cdiv(xnumel, meta["XBLOCK"]),)
    triton_poi_fused_add_constant_pad_nd_0[grid](x, bias, out, w + 3, h + 3, h, w, c, xnumel, XBLOCK=128)
    return out


def reference(x, bias):
    return torch.nn.functional.pad(x, (1, 2, 3, 0), value=0.5) + bias[None, :, None, None]


TRUTH = "verified"
