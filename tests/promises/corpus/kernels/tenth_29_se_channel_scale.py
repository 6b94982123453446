"""The end of a squeeze-and-excite block with a residual, as a compiler fuses it: x · sigmoid(gate)[n, c] + shortcut."""
import torch
import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_mul_sigmoid_0(in_out_ptr0, in_ptr0, in_ptr1, ks0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // ks0
    tmp0 = tl.load(in_out_ptr0 + (x2), xmask, eviction_policy="evict_last")
    tmp1 = tl.load(in_ptr0 + (x1), xmask, eviction_policy="evict_last")
    tmp4 = tl.load(in_ptr1 + (x2), xmask, eviction_policy="evict_last")
    tmp2 = tl.sigmoid(tmp1)
    tmp3 = tmp0 * tmp2
    tmp5 = tmp3 + tmp4
    tl.store(in_out_ptr0 + (x2), tmp5, xmask)


def launch(n=3, c=7, h=9, w=5):
    x = torch.randn(n, c, h, w, device="cuda")
    gate = torch.randn(n, c, 1, 1, device="cuda")
    shortcut = torch.randn(n, c, h, w, device="cuda")
    xnumel = n * c * h * w
    grid = lambda meta: (triton.cdiv(xnumel, meta["XBLOCK"]),)
    triton_poi_fused_add_mul_sigmoid_0[grid](x, gate, shortcut, h * w, xnumel, XBLOCK=128)
    return x


def reference(x, gate, shortcut):
    return x * torch.sigmoid(gate) + shortcut


TRUTH = "verified"
