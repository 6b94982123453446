"""Mamba selective scan forward: state tile [channels, 16] carried through time, softplus of dt with bias, skip connection and SiLU gate."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def selective_scan_fwd(x_ptr, dt_ptr, dtb_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, y_ptr, T, D, N: tl.constexpr, BD: tl.constexpr):
    bi = tl.program_id(0)
    ch = tl.program_id(1) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    ok = ch < D
    A = -tl.exp(tl.load(a_ptr + ch[:, None] * N + n[None, :], mask=ok[:, None], other=0.0))
    skip = tl.load(d_ptr + ch, mask=ok, other=0.0)
    dtb = tl.load(dtb_ptr + ch, mask=ok, other=0.0)
    h = tl.zeros([BD, N], tl.float32)
    for t in range(T):
        row = (bi * T + t) * D + ch
        x = tl.load(x_ptr + row, mask=ok, other=0.0)
        dt = tl.load(dt_ptr + row, mask=ok, other=0.0) + dtb
        dt = tl.where(dt > 20.0, dt, tl.log(1.0 + tl.exp(dt)))
        Bt = tl.load(b_ptr + (bi * T + t) * N + n)
        Ct = tl.load(c_ptr + (bi * T + t) * N + n)
        h = tl.exp(dt[:, None] * A) * h + (dt * x)[:, None] * Bt[None, :]
        y = tl.sum(h * Ct[None, :], 1) + skip * x
        z = tl.load(z_ptr + row, mask=ok, other=0.0)
        tl.store(y_ptr + row, y * z * tl.sigmoid(z), mask=ok)


def launch(B=2, T=7, D=20):
    N = 16
    x = torch.randn(B, T, D, device="cuda")
    dt = torch.randn(B, T, D, device="cuda")
    dt_bias = torch.randn(D, device="cuda")
    A_log = torch.randn(D, N, device="cuda")
    Bm = torch.randn(B, T, N, device="cuda")
    Cm = torch.randn(B, T, N, device="cuda")
    skip = torch.randn(D, device="cuda")
    z = torch.randn(B, T, D, device="cuda")
    y = torch.empty_like(x)
    selective_scan_fwd[(B, triton.cdiv(D, 8))](x, dt, dt_bias, A_log, Bm, Cm, skip, z, y, T, D, N=N, BD=8)
    return y


def reference(x, dt, dt_bias, A_log, Bm, Cm, skip, z):
    B, T, D = x.shape
    A = -torch.exp(A_log)
    delta = F.softplus(dt + dt_bias)
    h = torch.zeros(B, D, A.shape[1], device=x.device)
    ys = []
    for t in range(T):
        h = torch.exp(delta[:, t, :, None] * A) * h + (delta[:, t] * x[:, t])[:, :, None] * Bm[:, t, None, :]
        ys.append((h * Cm[:, t, None, :]).sum(-1))
    y = torch.stack(ys, 1) + skip * x
    return y * F.silu(z)
TRUTH = "verified"
