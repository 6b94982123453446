"""ssmupd, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_DT_BIAS": lambda args: args["dt_bias_ptr"] is not None})
@triton.heuristics({"HAS_D": lambda args: args["D_ptr"] is not None})
@triton.heuristics({"HAS_Z": lambda args: args["z_ptr"] is not None})
@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(
    state_ptr,
    x_ptr,
    dt_ptr,
    dt_bias_ptr,
    A_ptr,
    B_ptr,
    C_ptr,
    D_ptr,
    z_ptr,
    out_ptr,
    dim,
    dstate,
    nheads_ngroups_ratio,
    stride_state_batch,
    stride_state_head,
    stride_state_dim,
    stride_x_batch,
    stride_x_head,
    stride_A_head,
    stride_A_dim,
    stride_B_batch,
    stride_B_group,
    stride_p_head,
    BLOCK_SIZE_M: tl.constexpr,
    HAS_DT_BIAS: tl.constexpr,
    HAS_D: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK_SIZE_DSTATE: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_b = tl.program_id(1)
    pid_h = tl.program_id(2)
    group = pid_h // nheads_ngroups_ratio

    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    mask_m = offs_m < dim
    mask_n = offs_n < dstate
    mask = mask_m[:, None] & mask_n[None, :]

    row = pid_b * stride_x_batch + pid_h * stride_x_head + offs_m
    state_ptrs = (
        state_ptr
        + pid_b * stride_state_batch
        + pid_h * stride_state_head
        + offs_m[:, None] * stride_state_dim
        + offs_n[None, :]
    )
    state = tl.load(state_ptrs, mask=mask, other=0.0)
    x = tl.load(x_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + pid_h * stride_p_head + offs_m, mask=mask_m, other=0.0).to(tl.float32)
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)

    A = tl.load(A_ptr + pid_h * stride_A_head + offs_m[:, None] * stride_A_dim + offs_n[None, :], mask=mask, other=0.0)
    dA = tl.exp(A * dt[:, None])
    bc = pid_b * stride_B_batch + group * stride_B_group + offs_n
    B = tl.load(B_ptr + bc, mask=mask_n, other=0.0).to(tl.float32)
    C = tl.load(C_ptr + bc, mask=mask_n, other=0.0).to(tl.float32)

    state = state * dA + (B[None, :] * dt[:, None]) * x[:, None]
    tl.store(state_ptrs, state, mask=mask)
    out = tl.sum(state * C[None, :], axis=1)
    if HAS_D:
        out += x * tl.load(D_ptr + pid_h * stride_p_head + offs_m, mask=mask_m, other=0.0).to(tl.float32)
    if HAS_Z:
        z = tl.load(z_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
        out *= z * tl.sigmoid(z)
    tl.store(out_ptr + row, out, mask=mask_m)


def selective_state_update(state, x, dt, A, B, C, D=None, z=None, dt_bias=None):
    batch, nheads, dim, dstate = state.shape
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(dim, META["BLOCK_SIZE_M"]), batch, nheads)
    _selective_scan_update_kernel[grid](
        state, x, dt, dt_bias, A, B, C, D, z, out, dim, dstate, nheads // B.shape[1],
        state.stride(0), state.stride(1), state.stride(2), x.stride(0), x.stride(1),
        A.stride(0), A.stride(1), B.stride(0), B.stride(1), D.stride(0),
        BLOCK_SIZE_M=16,
    )
    return out


def launch(batch=2, groups=2, ratio=2, dim=20, dstate=12):
    state = torch.randn(batch, groups * ratio, dim, dstate, device="cuda")
    x = torch.randn(batch, groups * ratio, dim, device="cuda")
    dt = torch.randn(batch, groups * ratio, dim, device="cuda")
    A = torch.randn(groups * ratio, dim, dstate, device="cuda")
    B = torch.randn(batch, groups, dstate, device="cuda")
    C = torch.randn(batch, groups, dstate, device="cuda")
    D = torch.randn(groups * ratio, dim, device="cuda")
    z = torch.randn(batch, groups * ratio, dim, device="cuda")
    dt_bias = torch.randn(groups * ratio, dim, device="cuda")
    out = selective_state_update(state, x, dt, A, B, C, D, z, dt_bias)
    return out, state


def reference(state, x, dt, A, B, C, D, z, dt_bias):
    dt = torch.nn.functional.softplus(dt + dt_bias)
    ratio = x.shape[1] // B.shape[1]
    B = B.repeat_interleave(ratio, 1)
    C = C.repeat_interleave(ratio, 1)
    dA = torch.exp(dt[..., None] * A)
    new = state * dA + dt[..., None] * B[:, :, None, :] * x[..., None]
    out = torch.einsum("bhdn,bhn->bhd", new, C) + x * D
    return out * torch.nn.functional.silu(z), new


TRUTH = "verified"
