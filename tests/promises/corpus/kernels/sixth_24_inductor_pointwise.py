import torch
import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_clamp_mul_sigmoid_0(in_ptr0, in_ptr1, in_ptr2, out_ptr0, ks0, ks1, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x1 = ((xindex // ks0) % ks1)
    x0 = (xindex % ks0)
    tmp0 = tl.load(in_ptr0 + (x3), xmask, eviction_policy='evict_last')
    tmp1 = tl.load(in_ptr1 + (x1), xmask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 * tmp1
    tmp3 = tl.sigmoid(tmp2)
    tmp5 = tmp3 + tmp4
    tmp6 = -0.5
    tmp7 = tl.maximum(tmp5, tmp6)
    tmp8 = 1.0
    tmp9 = tl.minimum(tmp7, tmp8)
    tl.store(out_ptr0 + (x3), tmp9, xmask)


def call(args):
    arg0_1, arg1_1, arg2_1 = args
    s0, s1, s2 = arg0_1.shape
    buf0 = torch.empty_strided((s0, s1, s2), (s1 * s2, s2, 1), device='cpu', dtype=torch.float32)
    triton_poi_fused_add_clamp_mul_sigmoid_0_xnumel = s0 * s1 * s2
    grid = (triton.cdiv(triton_poi_fused_add_clamp_mul_sigmoid_0_xnumel, 128),)
    triton_poi_fused_add_clamp_mul_sigmoid_0[grid](
        arg0_1, arg1_1, arg2_1, buf0, s2, s1, triton_poi_fused_add_clamp_mul_sigmoid_0_xnumel, XBLOCK=128)
    return (buf0,)


def launch(s0=3, s1=5, s2=14):
    x = torch.randn(s0, s1, s2)
    gate = torch.randn(s1)
    shift = torch.randn(s2)
    return call([x, gate, shift])[0]


def reference(x, gate, shift):
    return ((x * gate[:, None]).sigmoid() + shift).clamp(-0.5, 1.0)


TRUTH = "verified"
