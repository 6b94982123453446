import torch
import triton
import triton.language as tl


# Topologically Sorted Source Nodes: [cat, sigmoid, mul], Original ATen: [aten.cat, aten.sigmoid, aten.mul]
@triton.jit
def triton_poi_fused_cat_mul_sigmoid_0(in_ptr0, in_ptr1, in_ptr2, out_ptr0, ks0, ks1, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % (ks0 + ks1)
    x1 = xindex // (ks0 + ks1)
    x2 = xindex
    tmp0 = x0
    tmp3 = ks0
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (ks0 * x1 + x0), tmp4 & xmask, eviction_policy="evict_last", other=0.0)
    tmp6 = tmp0 >= tmp3
    tmp9 = tl.load(in_ptr1 + (ks1 * x1 + (x0 - ks0)), tmp6 & xmask, eviction_policy="evict_last", other=0.0)
    tmp10 = tl.where(tmp4, tmp5, tmp9)
    tmp11 = tl.load(in_ptr2 + x2, xmask)
    tmp12 = tl.sigmoid(tmp11)
    tmp13 = tmp10 * tmp12
    tl.store(out_ptr0 + x2, tmp13, xmask)


def launch(rows=6, left=13, right=20):
    arg0 = torch.randn(rows, left, device="cuda")
    arg1 = torch.randn(rows, right, device="cuda")
    gate = torch.randn(rows, left + right, device="cuda")
    buf0 = torch.empty(rows, left + right, device="cuda")
    n = rows * (left + right)
    triton_poi_fused_cat_mul_sigmoid_0[(triton.cdiv(n, 128),)](arg0, arg1, gate, buf0, left, right, n, XBLOCK=128)
    return buf0


def reference(arg0, arg1, gate):
    return torch.cat([arg0, arg1], dim=1) * gate.sigmoid()


TRUTH = "verified"
