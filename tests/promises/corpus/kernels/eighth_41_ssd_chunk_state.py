# What each chunk of 16 steps adds to the state: sum over l of exp(A_last - A_l) dt_l x_l B_l^T.
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_state_kernel(x_ptr, b_ptr, dt_ptr, acs_ptr, s_ptr, C, H, P, N, L: tl.constexpr, BP: tl.constexpr,
                       BN: tl.constexpr):
    bc = tl.program_id(0)
    h = tl.program_id(1)
    batch = bc // C
    chunk = bc % C
    p = tl.arange(0, BP)
    n = tl.arange(0, BN)
    l = tl.arange(0, L)
    row = batch * C * L + chunk * L + l
    decays = acs_ptr + ((batch * H + h) * C + chunk) * L
    acs = tl.load(decays + l)
    last = tl.load(decays + L - 1)
    dt = tl.load(dt_ptr + ((batch * H + h) * C + chunk) * L + l)
    weight = tl.exp(last - acs) * dt
    x = tl.load(x_ptr + (row[None, :] * H + h) * P + p[:, None], mask=p[:, None] < P, other=0.0)
    b = tl.load(b_ptr + row[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
    s = tl.dot(x, b * weight[:, None], input_precision="ieee")
    out = ((bc * H + h) * P + p[:, None]) * N + n[None, :]
    tl.store(s_ptr + out, s, mask=(p[:, None] < P) & (n[None, :] < N))


def launch(B=2, C=3, H=2, P=12, N=10):
    x = torch.randn(B, C * 16, H, P, device="cuda")
    b = torch.randn(B, C * 16, N, device="cuda")
    dt = torch.rand(B, H, C, 16, device="cuda")
    acs = torch.cumsum(-torch.rand(B, H, C, 16, device="cuda"), dim=-1)
    states = torch.empty(B, C, H, P, N, device="cuda")
    chunk_state_kernel[(B * C, H)](x, b, dt, acs, states, C, H, P, N, L=16, BP=16, BN=16)
    return states


launch.assume = ["P <= 16 and N <= 16"]


def reference(x, b, dt, acs, C):
    x = x.unflatten(1, (C, 16))
    b = b.unflatten(1, (C, 16))
    weight = torch.exp(acs[..., -1:] - acs) * dt
    return torch.einsum("bclhp,bcln,bhcl->bchpn", x, b, weight)


TRUTH = "verified"
