import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def state_update_kernel(state_ptr, x_ptr, dt_ptr, dtb_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, out_ptr, D, N,
                        BD: tl.constexpr, BN: tl.constexpr):
    batch = tl.program_id(1)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    n = tl.arange(0, BN)
    in_d = d < D
    both = in_d[:, None] & (n[None, :] < N)
    x = tl.load(x_ptr + batch * D + d, mask=in_d, other=0.0)
    dt = tl.load(dt_ptr + batch * D + d, mask=in_d, other=0.0) + tl.load(dtb_ptr + d, mask=in_d, other=0.0)
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    a = tl.load(a_ptr + d[:, None] * N + n[None, :], mask=both, other=0.0)
    b = tl.load(b_ptr + batch * N + n, mask=n < N, other=0.0)
    c = tl.load(c_ptr + batch * N + n, mask=n < N, other=0.0)
    places = state_ptr + batch * D * N + d[:, None] * N + n[None, :]
    state = tl.load(places, mask=both, other=0.0)
    state = state * tl.exp(a * dt[:, None]) + b[None, :] * (dt * x)[:, None]
    tl.store(places, state, mask=both)
    out = tl.sum(state * c[None, :], axis=1)
    out += x * tl.load(d_ptr + d, mask=in_d, other=0.0)
    z = tl.load(z_ptr + batch * D + d, mask=in_d, other=0.0)
    tl.store(out_ptr + batch * D + d, out * z * tl.sigmoid(z), mask=in_d)


def launch(B=2, D=20, N=12):
    state = torch.randn(B, D, N, device="cuda")
    x = torch.randn(B, D, device="cuda")
    dt = torch.randn(B, D, device="cuda")
    dt_bias = torch.randn(D, device="cuda")
    a = -torch.rand(D, N, device="cuda")
    b = torch.randn(B, N, device="cuda")
    c = torch.randn(B, N, device="cuda")
    skip = torch.randn(D, device="cuda")
    z = torch.randn(B, D, device="cuda")
    out = torch.empty_like(x)
    state_update_kernel[(triton.cdiv(D, 8), B)](state, x, dt, dt_bias, a, b, c, skip, z, out, D, N, BD=8,
                                                BN=triton.next_power_of_2(N))
    return out, state


def reference(state, x, dt, dt_bias, a, b, c, skip, z):
    dt = F.softplus(dt + dt_bias)
    new = state * torch.exp(dt[..., None] * a) + dt[..., None] * b[:, None, :] * x[..., None]
    y = torch.einsum("bdn,bn->bd", new, c) + x * skip
    return y * F.silu(z), new


TRUTH = "verified"
