import torch
import triton
import triton.language as tl


@triton.jit
def scan_kernel(u_ptr, dt_ptr, a_ptr, b_ptr, c_ptr, y_ptr, T, D, BD: tl.constexpr, N: tl.constexpr):
    batch = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    mask = d < D
    a = tl.load(a_ptr + d[:, None] * N + n[None, :], mask=mask[:, None], other=0.0)
    h = tl.zeros([BD, N], dtype=tl.float32)
    for t in range(T):
        row = batch * T + t
        u = tl.load(u_ptr + row * D + d, mask=mask, other=0.0)
        dt = tl.load(dt_ptr + row * D + d, mask=mask, other=0.0)
        b = tl.load(b_ptr + row * N + n)
        c = tl.load(c_ptr + row * N + n)
        h = tl.exp(dt[:, None] * a) * h + (dt * u)[:, None] * b[None, :]
        tl.store(y_ptr + row * D + d, tl.sum(h * c[None, :], axis=1), mask=mask)


def launch(B=2, T=6, D=10):
    u = torch.randn(B, T, D, device="cuda")
    dt = torch.rand(B, T, D, device="cuda")
    a = -torch.rand(D, 8, device="cuda")
    b = torch.randn(B, T, 8, device="cuda")
    c = torch.randn(B, T, 8, device="cuda")
    y = torch.empty_like(u)
    scan_kernel[(B, triton.cdiv(D, 8))](u, dt, a, b, c, y, T, D, BD=8, N=8)
    return y


def reference(u, dt, a, b, c):
    h = torch.zeros_like(u[:, 0, :, None] * a)
    ys = []
    for t in range(u.shape[1]):
        h = torch.exp(dt[:, t, :, None] * a) * h + (dt[:, t] * u[:, t])[..., None] * b[:, t, None, :]
        ys.append((h * c[:, t, None, :]).sum(-1))
    return torch.stack(ys, dim=1)


TRUTH = "verified"
