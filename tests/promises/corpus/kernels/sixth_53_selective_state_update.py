import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_DT_BIAS": lambda args: args["dt_bias_ptr"] is not None})
@triton.heuristics({"HAS_D": lambda args: args["D_ptr"] is not None})
@triton.heuristics({"HAS_Z": lambda args: args["z_ptr"] is not None})
@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(
    state_ptr, x_ptr, dt_ptr, dt_bias_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, out_ptr,
    batch, dim, dstate,
    stride_state_batch, stride_state_dim, stride_state_dstate,
    stride_x_batch, stride_x_dim,
    stride_A_dim, stride_A_dstate,
    stride_B_batch, stride_B_dstate,
    DT_SOFTPLUS: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    HAS_DT_BIAS: tl.constexpr,
    HAS_D: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK_SIZE_DSTATE: tl.constexpr,
):
    pid_m = tl.program_id(axis=0)
    pid_b = tl.program_id(axis=1)
    state_ptr += pid_b * stride_state_batch
    x_ptr += pid_b * stride_x_batch
    dt_ptr += pid_b * stride_x_batch
    B_ptr += pid_b * stride_B_batch
    C_ptr += pid_b * stride_B_batch
    out_ptr += pid_b * stride_x_batch

    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    state_ptrs = state_ptr + (offs_m[:, None] * stride_state_dim + offs_n[None, :] * stride_state_dstate)
    A_ptrs = A_ptr + (offs_m[:, None] * stride_A_dim + offs_n[None, :] * stride_A_dstate)
    both = (offs_m[:, None] < dim) & (offs_n[None, :] < dstate)

    state = tl.load(state_ptrs, mask=both, other=0.0)
    x = tl.load(x_ptr + offs_m * stride_x_dim, mask=offs_m < dim, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + offs_m * stride_x_dim, mask=offs_m < dim, other=0.0).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + offs_m, mask=offs_m < dim, other=0.0).to(tl.float32)
    if DT_SOFTPLUS:
        dt = tl.where(dt <= 20.0, tl.log(1 + tl.exp(dt)), dt)
    A = tl.load(A_ptrs, mask=both, other=0.0).to(tl.float32)
    dA = tl.exp(A * dt[:, None])
    B = tl.load(B_ptr + offs_n * stride_B_dstate, mask=offs_n < dstate, other=0.0)
    C = tl.load(C_ptr + offs_n * stride_B_dstate, mask=offs_n < dstate, other=0.0)

    dB = B[None, :] * dt[:, None]
    state = state * dA + dB * x[:, None]
    tl.store(state_ptrs, state, mask=both)
    out = tl.sum(state * C[None, :], axis=1)
    if HAS_D:
        out += x * tl.load(D_ptr + offs_m, mask=offs_m < dim, other=0.0)
    if HAS_Z:
        z = tl.load(z_ptr + pid_b * stride_x_batch + offs_m, mask=offs_m < dim, other=0.0)
        out *= z * tl.sigmoid(z)
    tl.store(out_ptr + offs_m * stride_x_dim, out, mask=offs_m < dim)


def selective_state_update(state, x, dt, A, B, C, D=None, z=None, dt_bias=None, dt_softplus=False):
    batch, dim, dstate = state.shape
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(dim, META["BLOCK_SIZE_M"]), batch)
    _selective_scan_update_kernel[grid](
        state, x, dt, dt_bias, A, B, C, D, z, out, batch, dim, dstate,
        state.stride(0), state.stride(1), state.stride(2), x.stride(0), x.stride(1),
        A.stride(0), A.stride(1), B.stride(0), B.stride(1), dt_softplus, 16)
    return out


def launch(batch=3, dim=21, dstate=12):
    state = torch.randn(batch, dim, dstate)
    x = torch.randn(batch, dim)
    dt = torch.randn(batch, dim)
    A = -torch.rand(dim, dstate)
    B = torch.randn(batch, dstate)
    C = torch.randn(batch, dstate)
    D = torch.randn(dim)
    dt_bias = torch.randn(dim)
    z = torch.randn(batch, dim)
    y = selective_state_update(state, x, dt, A, B, C, D, z, dt_bias, True)
    return y, state


def reference(state, x, dt, A, B, C, D, dt_bias, z):
    step = torch.nn.functional.softplus(dt + dt_bias)
    new = state * torch.exp(step[..., None] * A) + (step * x)[..., None] * B[:, None, :]
    y = (new * C[:, None, :]).sum(-1) + D * x
    return y * torch.nn.functional.silu(z), new


TRUTH = "verified"
