"""Mamba's decode step: state of each channel updated in place, dt with bias and softplus, D skip, gate z."""
import torch
import triton
import triton.language as tl


@triton.heuristics({"BLOCK_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(
    state_ptr, x_ptr, dt_ptr, dt_bias_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, out_ptr,
    dim, dstate,
    stride_state_b, stride_state_d, stride_x_b, stride_A_d, stride_B_b,
    HAS_D: tl.constexpr, HAS_Z: tl.constexpr, SOFTPLUS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_DSTATE: tl.constexpr,
):
    pid_m = tl.program_id(0)
    b = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_DSTATE)
    m_mask = m < dim
    mask = m_mask[:, None] & (n[None, :] < dstate)
    s_ptrs = state_ptr + b * stride_state_b + m[:, None] * stride_state_d + n[None, :]
    state = tl.load(s_ptrs, mask=mask, other=0.0)
    x = tl.load(x_ptr + b * stride_x_b + m, mask=m_mask, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + b * stride_x_b + m, mask=m_mask, other=0.0).to(tl.float32)
    dt += tl.load(dt_bias_ptr + m, mask=m_mask, other=0.0).to(tl.float32)
    if SOFTPLUS:
        dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    A = tl.load(A_ptr + m[:, None] * stride_A_d + n[None, :], mask=mask, other=0.0).to(tl.float32)
    B = tl.load(B_ptr + b * stride_B_b + n, mask=n < dstate, other=0.0).to(tl.float32)
    C = tl.load(C_ptr + b * stride_B_b + n, mask=n < dstate, other=0.0).to(tl.float32)
    dA = tl.exp(A * dt[:, None])
    state = state * dA + B[None, :] * (dt * x)[:, None]
    tl.store(s_ptrs, state, mask=mask)
    out = tl.sum(state * C[None, :], axis=1)
    if HAS_D:
        out += x * tl.load(D_ptr + m, mask=m_mask, other=0.0).to(tl.float32)
    if HAS_Z:
        z = tl.load(z_ptr + b * stride_x_b + m, mask=m_mask, other=0.0).to(tl.float32)
        out *= z * tl.sigmoid(z)
    tl.store(out_ptr + b * stride_x_b + m, out, mask=m_mask)


def launch(batch=3, dim=25, dstate=12):
    state = torch.randn(batch, dim, dstate, device="cuda")
    x = torch.randn(batch, dim, device="cuda")
    dt = torch.randn(batch, dim, device="cuda")
    dt_bias = torch.randn(dim, device="cuda")
    A = -torch.rand(dim, dstate, device="cuda")
    B = torch.randn(batch, dstate, device="cuda")
    C = torch.randn(batch, dstate, device="cuda")
    D = torch.randn(dim, device="cuda")
    z = torch.randn(batch, dim, device="cuda")
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(dim, META["BLOCK_M"]), batch)
    _selective_scan_update_kernel[grid](
        state, x, dt, dt_bias, A, B, C, D, z, out, dim, dstate,
        state.stride(0), state.stride(1), x.stride(0), A.stride(0), B.stride(0),
        HAS_D=True, HAS_Z=True, SOFTPLUS=True, BLOCK_M=8,
    )
    return out, state


def reference(state, x, dt, dt_bias, A, B, C, D, z):
    dt = torch.nn.functional.softplus(dt + dt_bias)
    new = state * torch.exp(dt[..., None] * A) + dt[..., None] * B[:, None, :] * x[..., None]
    y = torch.einsum("bdn,bn->bd", new, C) + x * D
    return y * torch.nn.functional.silu(z), new

TRUTH = "verified"
