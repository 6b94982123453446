"""Mamba-2 decode step: the state of each head decays and takes the new token, the output is gated."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def softplus(dt):
    return tl.where(dt <= 20.0, tl.log(tl.exp(dt) + 1), dt)


@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def _selective_scan_update_kernel(
    state_ptr, x_ptr, dt_ptr, dt_bias_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, out_ptr,
    dim, dstate, nheads_ngroups_ratio,
    stride_state_batch, stride_state_head, stride_state_dim,
    stride_x_batch, stride_x_head,
    stride_A_head, stride_A_dim,
    stride_B_batch, stride_B_group,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_DSTATE: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_b = tl.program_id(1)
    pid_h = tl.program_id(2)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    mask_m = offs_m < dim
    mask = (offs_m[:, None] < dim) & (offs_n[None, :] < dstate)
    state_ptrs = state_ptr + pid_b * stride_state_batch + pid_h * stride_state_head + offs_m[:, None] * stride_state_dim + offs_n[None, :]
    row = pid_b * stride_x_batch + pid_h * stride_x_head + offs_m
    group = pid_b * stride_B_batch + (pid_h // nheads_ngroups_ratio) * stride_B_group + offs_n

    state = tl.load(state_ptrs, mask=mask, other=0.0)
    x = tl.load(x_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
    dt += tl.load(dt_bias_ptr + pid_h * dim + offs_m, mask=mask_m, other=0.0).to(tl.float32)
    dt = softplus(dt)
    A = tl.load(A_ptr + pid_h * stride_A_head + offs_m[:, None] * stride_A_dim + offs_n[None, :], mask=mask, other=0.0)
    dA = tl.exp(A * dt[:, None])
    B = tl.load(B_ptr + group, mask=offs_n < dstate, other=0.0)
    C = tl.load(C_ptr + group, mask=offs_n < dstate, other=0.0)
    state = state * dA + B[None, :] * dt[:, None] * x[:, None]
    tl.store(state_ptrs, state, mask=mask)

    out = tl.sum(state * C[None, :], axis=1)
    out += x * tl.load(D_ptr + pid_h * dim + offs_m, mask=mask_m, other=0.0)
    z = tl.load(z_ptr + row, mask=mask_m, other=0.0).to(tl.float32)
    out *= z * tl.sigmoid(z)
    tl.store(out_ptr + row, out, mask=mask_m)


def launch(batch: int = 3, nheads: int = 6, dim: int = 40, dstate: int = 24, ngroups: int = 2):
    state = torch.randn(batch, nheads, dim, dstate)
    x = torch.randn(batch, nheads, dim)
    dt = torch.randn(batch, nheads, dim)
    dt_bias = torch.randn(nheads, dim)
    A = -torch.rand(nheads, dim, dstate)
    B = torch.randn(batch, ngroups, dstate)
    C = torch.randn(batch, ngroups, dstate)
    D = torch.randn(nheads, dim)
    z = torch.randn(batch, nheads, dim)
    out = torch.empty_like(x)
    assert nheads % ngroups == 0
    grid = lambda META: (triton.cdiv(dim, META["BLOCK_SIZE_M"]), batch, nheads)
    _selective_scan_update_kernel[grid](
        state, x, dt, dt_bias, A, B, C, D, z, out,
        dim, dstate, nheads // ngroups,
        state.stride(0), state.stride(1), state.stride(2),
        x.stride(0), x.stride(1),
        A.stride(0), A.stride(1),
        B.stride(0), B.stride(1),
        BLOCK_SIZE_M=16,
    )
    return state, out


def reference(state, x, dt, dt_bias, A, B, C, D, z):
    ratio = x.shape[1] // B.shape[1]
    step = torch.nn.functional.softplus(dt + dt_bias)
    b = B.repeat_interleave(ratio, 1)
    c = C.repeat_interleave(ratio, 1)
    new = state * torch.exp(A * step[..., None]) + b[:, :, None, :] * (step * x)[..., None]
    y = (new * c[:, :, None, :]).sum(-1) + x * D
    return new, y * torch.nn.functional.silu(z)
