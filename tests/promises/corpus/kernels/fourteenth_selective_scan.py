"""Mamba selective scan forward: sequential over time, softplus of the step size, state tile of channels by state size, gated by silu(z)."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def selective_scan_kernel(
    u_ptr, dt_ptr, dtb_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, y_ptr, h_ptr, T, dim, N,
    BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr,
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, BLOCK_N)
    dmask, nmask = d < dim, n < N
    dn = dmask[:, None] & nmask[None, :]
    A = -tl.exp(tl.load(A_ptr + d[:, None] * N + n[None, :], mask=dn, other=0.0))
    D = tl.load(D_ptr + d, mask=dmask, other=0.0)
    bias = tl.load(dtb_ptr + d, mask=dmask, other=0.0)
    h = tl.zeros([BLOCK_D, BLOCK_N], dtype=tl.float32)
    for t in range(0, T):
        row = (b * T + t) * dim + d
        u = tl.load(u_ptr + row, mask=dmask, other=0.0)
        dt = tl.load(dt_ptr + row, mask=dmask, other=0.0) + bias
        dt = tl.where(dt > 20.0, dt, tl.log(1.0 + tl.exp(dt)))
        Bt = tl.load(B_ptr + (b * T + t) * N + n, mask=nmask, other=0.0)
        Ct = tl.load(C_ptr + (b * T + t) * N + n, mask=nmask, other=0.0)
        h = tl.exp(dt[:, None] * A) * h + (dt * u)[:, None] * Bt[None, :]
        y = tl.sum(h * Ct[None, :], axis=1) + D * u
        z = tl.load(z_ptr + row, mask=dmask, other=0.0)
        tl.store(y_ptr + row, y * z * tl.sigmoid(z), mask=dmask)
    tl.store(h_ptr + (b * dim + d)[:, None] * N + n[None, :], h, mask=dn)


def launch(batch=2, T=6, dim=40, N=12):
    u = torch.randn(batch, T, dim)
    dt = torch.randn(batch, T, dim)
    dt_bias = torch.randn(dim)
    A_log = torch.randn(dim, N)
    B = torch.randn(batch, T, N)
    C = torch.randn(batch, T, N)
    D = torch.randn(dim)
    z = torch.randn(batch, T, dim)
    y = torch.empty_like(u)
    h = torch.empty(batch, dim, N)
    selective_scan_kernel[(batch, triton.cdiv(dim, 16))](
        u, dt, dt_bias, A_log, B, C, D, z, y, h, T, dim, N, BLOCK_D=16, BLOCK_N=triton.next_power_of_2(N)
    )
    return y, h


def reference(u, dt, dt_bias, A_log, B, C, D, z):
    delta = F.softplus(dt + dt_bias)
    A = -torch.exp(A_log)
    h = torch.zeros(u.shape[0], u.shape[2], A.shape[1])
    ys = []
    for t in range(u.shape[1]):
        h = torch.exp(delta[:, t, :, None] * A) * h + (delta[:, t] * u[:, t])[:, :, None] * B[:, t, None, :]
        ys.append((h * C[:, t, None, :]).sum(-1))
    y = torch.stack(ys, dim=1) + D * u
    return y * F.silu(z), h
TRUTH = "verified"
