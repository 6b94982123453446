# What torch.compile makes of sentence-transformers' pooling (mean over the unmasked tokens, then unit length), as kernels that
# were copied out of its output code and renamed.
import torch
import triton
import triton.language as tl


@triton.jit
def triton_red_fused_clamp_div_mul_sum_0(
    in_ptr0, in_ptr1, out_ptr1, ks0, ks1, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr
):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    rbase = tl.arange(0, RBLOCK)[None, :]
    x0 = xindex % ks0
    x1 = xindex // ks0
    _tmp5 = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    _tmp8 = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    for roffset in range(0, rnumel, RBLOCK):
        rindex = roffset + rbase
        rmask = rindex < rnumel
        r2 = rindex
        tmp0 = tl.load(in_ptr0 + (x0 + ks0 * r2 + ks0 * ks1 * x1), rmask & xmask, eviction_policy="evict_first", other=0.0)
        tmp1 = tl.load(in_ptr1 + (r2 + ks1 * x1), rmask & xmask, eviction_policy="evict_last", other=0)
        tmp2 = tmp1.to(tl.float32)
        tmp3 = tmp0 * tmp2
        tmp4 = tl.broadcast_to(tmp3, [XBLOCK, RBLOCK])
        tmp6 = _tmp5 + tmp4
        _tmp5 = tl.where(rmask & xmask, tmp6, _tmp5)
        tmp7 = tl.broadcast_to(tmp2, [XBLOCK, RBLOCK])
        tmp9 = _tmp8 + tmp7
        _tmp8 = tl.where(rmask & xmask, tmp9, _tmp8)
    tmp5 = tl.sum(_tmp5, 1)[:, None]
    tmp8 = tl.sum(_tmp8, 1)[:, None]
    tmp10 = 1e-09
    tmp11 = tl.maximum(tmp8, tmp10)
    tmp12 = tmp5 / tmp11
    tl.store(out_ptr1 + (xindex), tmp12, xmask)


@triton.jit
def triton_per_fused_div_linalg_vector_norm_1(in_out_ptr0, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    rindex = tl.arange(0, RBLOCK)[None, :]
    rmask = rindex < rnumel
    r1 = rindex
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (r1 + rnumel * x0), rmask & xmask, other=0.0)
    tmp1 = tmp0 * tmp0
    tmp2 = tl.broadcast_to(tmp1, [XBLOCK, RBLOCK])
    tmp4 = tl.where(rmask & xmask, tmp2, 0)
    tmp5 = tl.sum(tmp4, 1)[:, None]
    tmp6 = tl.sqrt(tmp5)
    tmp7 = 1e-12
    tmp8 = tl.maximum(tmp6, tmp7)
    tmp9 = tmp0 / tmp8
    tl.store(in_out_ptr0 + (r1 + rnumel * x0), tmp9, rmask & xmask)


def launch(batch=3, seq=21, dim=45):
    hidden = torch.randn(batch, seq, dim, device="cuda")
    attention_mask = torch.randint(0, 2, (batch, seq), device="cuda")
    buf0 = torch.empty((batch, dim), device="cuda", dtype=torch.float32)
    xnumel = batch * dim
    grid = lambda meta: (triton.cdiv(xnumel, meta["XBLOCK"]),)
    triton_red_fused_clamp_div_mul_sum_0[grid](hidden, attention_mask, buf0, dim, seq, xnumel, seq, XBLOCK=32, RBLOCK=8)
    grid1 = lambda meta: (triton.cdiv(batch, meta["XBLOCK"]),)
    triton_per_fused_div_linalg_vector_norm_1[grid1](buf0, batch, dim, XBLOCK=2, RBLOCK=triton.next_power_of_2(dim))
    return buf0


def reference(hidden, attention_mask):
    mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
    pooled = (hidden * mask).sum(1) / torch.clamp(mask.sum(1), min=1e-9)
    return torch.nn.functional.normalize(pooled, p=2, dim=1)


TRUTH = "verified"
