# what Inductor writes for  layer_norm(x) * (1 + scale) + shift  of a DiT block, tidied a little
import torch
import triton
import triton.language as tl


@triton.jit
def triton_per_fused_add_mul_native_layer_norm_0(
    in_ptr0, in_ptr1, out_ptr0, ks0, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr
):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    rindex = tl.arange(0, RBLOCK)[None, :]
    rmask = rindex < rnumel
    r1 = rindex
    x0 = xindex
    x2 = xindex // ks0
    tmp0 = tl.load(in_ptr0 + (r1 + rnumel * x0), rmask & xmask, other=0.0)
    tmp22 = tl.load(in_ptr1 + (r1 + 2 * rnumel * x2), rmask & xmask, other=0.0)
    tmp26 = tl.load(in_ptr1 + (rnumel + r1 + 2 * rnumel * x2), rmask & xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, RBLOCK])
    tmp3 = tl.where(rmask & xmask, tmp1, 0)
    tmp8 = tl.sum(tmp3, 1)[:, None]
    tmp10 = tmp8 / rnumel
    tmp11 = tmp1 - tmp10
    tmp12 = tmp11 * tmp11
    tmp15 = tl.where(rmask & xmask, tmp12, 0)
    tmp16 = tl.sum(tmp15, 1)[:, None]
    tmp17 = tmp16 / rnumel
    tmp18 = 1e-06
    tmp19 = tmp17 + tmp18
    tmp20 = tl.rsqrt(tmp19)
    tmp21 = tmp11 * tmp20
    tmp23 = 1.0
    tmp24 = tmp22 + tmp23
    tmp25 = tmp21 * tmp24
    tmp27 = tmp25 + tmp26
    tl.store(out_ptr0 + (r1 + rnumel * x0), tmp27, rmask & xmask)


def launch(batch=3, tokens=5, hidden=90):
    x = torch.randn(batch, tokens, hidden, device="cuda")
    modulation = torch.randn(batch, 2 * hidden, device="cuda")  # scale, shift
    buf0 = torch.empty_strided((batch, tokens, hidden), (tokens * hidden, hidden, 1), device="cuda", dtype=torch.float32)
    xnumel = batch * tokens
    triton_per_fused_add_mul_native_layer_norm_0[(triton.cdiv(xnumel, 4),)](
        x, modulation, buf0, tokens, xnumel, hidden, XBLOCK=4, RBLOCK=triton.next_power_of_2(hidden)
    )
    return buf0


def reference(x, modulation):
    scale, shift = modulation.chunk(2, dim=1)
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)
    return y * (1 + scale[:, None]) + shift[:, None]


TRUTH = "verified"
