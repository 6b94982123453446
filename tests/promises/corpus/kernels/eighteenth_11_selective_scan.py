"""Mamba selective scan forward: softplus of dt with its bias, h = exp(dt A) h + dt B u step by step, skip connection and silu gate."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def selective_scan_kernel(
    u_ptr, dt_ptr, A_ptr, B_ptr, C_ptr, D_ptr, dt_bias_ptr, z_ptr, y_ptr,
    L, dim, dstate,
    stride_ub, stride_ul, stride_Ad, stride_Bb, stride_Bl,
    BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr,
):
    b = tl.program_id(0)
    offs_d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    offs_n = tl.arange(0, BLOCK_N)
    d_mask = offs_d < dim
    n_mask = offs_n < dstate

    A = tl.load(
        A_ptr + offs_d[:, None] * stride_Ad + offs_n[None, :],
        mask=d_mask[:, None] & n_mask[None, :], other=0.0,
    )
    skip = tl.load(D_ptr + offs_d, mask=d_mask, other=0.0)
    dt_bias = tl.load(dt_bias_ptr + offs_d, mask=d_mask, other=0.0)
    h = tl.zeros((BLOCK_D, BLOCK_N), dtype=tl.float32)
    for t in range(L):
        row = b * stride_ub + t * stride_ul + offs_d
        u = tl.load(u_ptr + row, mask=d_mask, other=0.0)
        dt = tl.load(dt_ptr + row, mask=d_mask, other=0.0) + dt_bias
        dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
        z = tl.load(z_ptr + row, mask=d_mask, other=0.0)
        B = tl.load(B_ptr + b * stride_Bb + t * stride_Bl + offs_n, mask=n_mask, other=0.0)
        C = tl.load(C_ptr + b * stride_Bb + t * stride_Bl + offs_n, mask=n_mask, other=0.0)
        h = tl.exp(dt[:, None] * A) * h + (dt * u)[:, None] * B[None, :]
        y = tl.sum(h * C[None, :], axis=1) + skip * u
        tl.store(y_ptr + row, y * z * tl.sigmoid(z), mask=d_mask)


def launch(batch=2, L=5, dim=20, dstate=6):
    u = torch.randn(batch, L, dim, device="cuda")
    dt = torch.randn(batch, L, dim, device="cuda")
    A = -torch.rand(dim, dstate, device="cuda") - 0.5
    B = torch.randn(batch, L, dstate, device="cuda")
    C = torch.randn(batch, L, dstate, device="cuda")
    D = torch.randn(dim, device="cuda")
    dt_bias = torch.randn(dim, device="cuda")
    z = torch.randn(batch, L, dim, device="cuda")
    y = torch.empty_like(u)
    grid = lambda meta: (batch, triton.cdiv(dim, meta["BLOCK_D"]))
    selective_scan_kernel[grid](
        u, dt, A, B, C, D, dt_bias, z, y,
        L, dim, dstate,
        u.stride(0), u.stride(1), A.stride(0), B.stride(0), B.stride(1),
        BLOCK_D=16, BLOCK_N=triton.next_power_of_2(dstate),
    )
    return y


def reference(u, dt, A, B, C, D, dt_bias, z):
    dt = F.softplus(dt + dt_bias)
    h = torch.zeros(u.shape[0], u.shape[2], A.shape[1], device=u.device)
    ys = []
    for t in range(u.shape[1]):
        h = torch.exp(dt[:, t, :, None] * A) * h + (dt[:, t] * u[:, t])[:, :, None] * B[:, t, None, :]
        ys.append((h * C[:, t, None, :]).sum(-1) + D * u[:, t])
    return torch.stack(ys, dim=1) * F.silu(z)

TRUTH = "verified"
