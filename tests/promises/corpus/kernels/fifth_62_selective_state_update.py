"""Decode step of a selective state-space layer: the state is renewed in place, with softplus, skip and gate."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(state_ptr, x_ptr, dt_ptr, dt_bias_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, out_ptr,
                                  dim, dstate, stride_state_batch, stride_state_dim, stride_state_dstate,
                                  stride_x_batch, stride_A_dim, stride_B_batch, stride_C_batch,
                                  BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_DSTATE: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_b = tl.program_id(1)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    mask = (offs_m[:, None] < dim) & (offs_n[None, :] < dstate)
    state_ptrs = (state_ptr + pid_b * stride_state_batch + offs_m[:, None] * stride_state_dim
                  + offs_n[None, :] * stride_state_dstate)
    state = tl.load(state_ptrs, mask=mask, other=0.0)
    x = tl.load(x_ptr + pid_b * stride_x_batch + offs_m, mask=offs_m < dim, other=0.0)
    dt = tl.load(dt_ptr + pid_b * stride_x_batch + offs_m, mask=offs_m < dim, other=0.0)
    dt += tl.load(dt_bias_ptr + offs_m, mask=offs_m < dim, other=0.0)
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    A = tl.load(A_ptr + offs_m[:, None] * stride_A_dim + offs_n[None, :], mask=mask, other=0.0)
    dA = tl.exp(A * dt[:, None])
    B = tl.load(B_ptr + pid_b * stride_B_batch + offs_n, mask=offs_n < dstate, other=0.0)
    C = tl.load(C_ptr + pid_b * stride_C_batch + offs_n, mask=offs_n < dstate, other=0.0)
    state = state * dA + B[None, :] * dt[:, None] * x[:, None]
    tl.store(state_ptrs, state, mask=mask)
    out = tl.sum(state * C[None, :], axis=1)
    out += x * tl.load(D_ptr + offs_m, mask=offs_m < dim, other=0.0)
    z = tl.load(z_ptr + pid_b * stride_x_batch + offs_m, mask=offs_m < dim, other=0.0)
    out *= z * tl.sigmoid(z)
    tl.store(out_ptr + pid_b * stride_x_batch + offs_m, out, mask=offs_m < dim)


def launch():
    batch, dim, dstate = 3, 90, 12
    state = torch.randn(batch, dim, dstate)
    x, dt, z = torch.randn(batch, dim), torch.randn(batch, dim), torch.randn(batch, dim)
    dt_bias, D = torch.randn(dim), torch.randn(dim)
    A = -torch.rand(dim, dstate)
    B, C = torch.randn(batch, dstate), torch.randn(batch, dstate)
    out = torch.empty_like(x)
    _selective_scan_update_kernel[(triton.cdiv(dim, 32), batch)](
        state, x, dt, dt_bias, A, B, C, D, z, out, dim, dstate,
        state.stride(0), state.stride(1), state.stride(2), x.stride(0), A.stride(0), B.stride(0), C.stride(0),
        BLOCK_SIZE_M=32)
    return out, state


def reference(state, x, dt, dt_bias, A, B, C, D, z):
    step = F.softplus(dt + dt_bias)
    new = state * torch.exp(step[:, :, None] * A) + step[:, :, None] * B[:, None, :] * x[:, :, None]
    return ((new * C[:, None, :]).sum(-1) + D * x) * F.silu(z), new
