"""Backward of SwiGLU on a packed gate_up projection: recomputes silu(gate), writes both halves of d_gate_up, optionally the forward output."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=2),
        triton.Config({"BLOCK": 128}, num_warps=4),
    ],
    key=["D"],
)
@triton.jit
def _swiglu_bwd_kernel(
    gate_up_ptr, dout_ptr, dgu_ptr, out_ptr,
    stride_gu, stride_do, stride_dgu, stride_out,
    D,
    RECOMPUTE: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < D
    gate = tl.load(gate_up_ptr + row * stride_gu + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_up_ptr + row * stride_gu + D + cols, mask=mask, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + row * stride_do + cols, mask=mask, other=0.0).to(tl.float32)

    sig = tl.sigmoid(gate)
    act = gate * sig
    d_up = dout * act
    d_gate = dout * up * sig * (1.0 + gate * (1.0 - sig))
    tl.store(dgu_ptr + row * stride_dgu + cols, d_gate, mask=mask)
    tl.store(dgu_ptr + row * stride_dgu + D + cols, d_up, mask=mask)
    if RECOMPUTE:
        tl.store(out_ptr + row * stride_out + cols, act * up, mask=mask)


def launch(T=6, D=100):
    gate_up = torch.randn(T, 2 * D, device="cuda")
    dout = torch.randn(T, D, device="cuda")
    d_gate_up = torch.empty_like(gate_up)
    out = torch.empty_like(dout)
    grid = lambda meta: (T, triton.cdiv(D, meta["BLOCK"]))
    _swiglu_bwd_kernel[grid](
        gate_up, dout, d_gate_up, out,
        gate_up.stride(0), dout.stride(0), d_gate_up.stride(0), out.stride(0),
        D, RECOMPUTE=True,
    )
    return d_gate_up, out


def reference(gate_up, dout):
    gate, up = gate_up.chunk(2, dim=-1)
    sig = torch.sigmoid(gate)
    silu = gate * sig
    d_gate = dout * up * (sig + silu * (1 - sig))
    return torch.cat([d_gate, dout * silu], dim=-1), silu * up

TRUTH = "verified"
