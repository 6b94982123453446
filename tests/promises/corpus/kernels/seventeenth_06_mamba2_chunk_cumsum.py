"""SSM training: Mamba-2 chunk_cumsum forward: dt + bias, softplus, clamp, dA = dt * A, cumsum inside each chunk."""
import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_DT_BIAS": lambda args: args["dt_bias_ptr"] is not None})
@triton.jit
def chunk_cumsum_fwd_kernel(
    dt_ptr, A_ptr, dt_bias_ptr, dt_out_ptr, dA_cs_ptr,
    seqlen, nheads, dt_min, dt_max,
    stride_dt_b, stride_dt_t, stride_dt_h,
    stride_o_b, stride_o_h, stride_o_c, stride_o_t,
    DT_SOFTPLUS: tl.constexpr, HAS_DT_BIAS: tl.constexpr,
    CHUNK: tl.constexpr, BLOCK_H: tl.constexpr,
):
    b = tl.program_id(0)
    c = tl.program_id(1)
    h = tl.program_id(2) * BLOCK_H + tl.arange(0, BLOCK_H)
    i = tl.arange(0, CHUNK)
    t = c * CHUNK + i
    h_mask = h < nheads
    mask = h_mask[:, None] & (t[None, :] < seqlen)
    dt = tl.load(dt_ptr + b * stride_dt_b + t[None, :] * stride_dt_t + h[:, None] * stride_dt_h,
                 mask=mask, other=0.0).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + h, mask=h_mask, other=0.0).to(tl.float32)[:, None]
    if DT_SOFTPLUS:
        dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    dt = tl.minimum(tl.maximum(dt, dt_min), dt_max)
    dt = tl.where(mask, dt, 0.0)
    out = b * stride_o_b + h[:, None] * stride_o_h + c * stride_o_c + i[None, :] * stride_o_t
    tl.store(dt_out_ptr + out, dt, mask=h_mask[:, None])
    A = tl.load(A_ptr + h, mask=h_mask, other=0.0).to(tl.float32)
    dA_cs = tl.cumsum(dt * A[:, None], axis=1)
    tl.store(dA_cs_ptr + out, dA_cs, mask=h_mask[:, None])


def launch(batch=2, nheads=6, chunks=3):
    chunk = 16
    seqlen = chunks * chunk
    dt = torch.randn(batch, seqlen, nheads, device="cuda")
    A = -torch.rand(nheads, device="cuda")
    dt_bias = torch.randn(nheads, device="cuda")
    dt_out = torch.empty(batch, nheads, chunks, chunk, device="cuda")
    dA_cs = torch.empty_like(dt_out)
    BLOCK_H = 4
    chunk_cumsum_fwd_kernel[(batch, chunks, triton.cdiv(nheads, BLOCK_H))](
        dt, A, dt_bias, dt_out, dA_cs, seqlen, nheads, 0.001, 1.0,
        dt.stride(0), dt.stride(1), dt.stride(2),
        dt_out.stride(0), dt_out.stride(1), dt_out.stride(2), dt_out.stride(3),
        DT_SOFTPLUS=True, CHUNK=chunk, BLOCK_H=BLOCK_H,
    )
    return dt_out, dA_cs


def reference(dt, A, dt_bias, chunks):
    x = torch.nn.functional.softplus(dt + dt_bias).clamp(0.001, 1.0)
    x = x.reshape(dt.shape[0], chunks, 16, dt.shape[2]).permute(0, 3, 1, 2)
    return x, (x * A[None, :, None, None]).cumsum(-1)

TRUTH = "verified"
