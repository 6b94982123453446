import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def geglu_backward_kernel(dc_ptr, a_ptr, b_ptr, da_ptr, db_ptr, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    dc = tl.load(dc_ptr + row * stride + cols, mask=mask, other=0.0)
    a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0.0)
    b = tl.load(b_ptr + row * stride + cols, mask=mask, other=0.0)
    c = 0.7978845608028654
    t = tanh(c * (a + 0.044715 * a * a * a))
    gelu = 0.5 * a * (1.0 + t)
    slope = 0.5 * (1.0 + t) + 0.5 * a * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * a * a)
    tl.store(db_ptr + row * stride + cols, dc * gelu, mask=mask)
    tl.store(da_ptr + row * stride + cols, dc * b * slope, mask=mask)


def launch(M=5, N=70):
    dc = torch.randn(M, N, device="cuda")
    a = torch.randn(M, N, device="cuda")
    b = torch.randn(M, N, device="cuda")
    da = torch.empty_like(a)
    db = torch.empty_like(b)
    geglu_backward_kernel[(M,)](dc, a, b, da, db, N, a.stride(0), BLOCK=triton.next_power_of_2(N))
    return da, db


def reference(dc, a, b):
    t = torch.tanh(0.7978845608028654 * (a + 0.044715 * a**3))
    inner = 0.7978845608028654 * (1 + 3 * 0.044715 * a**2)
    slope = 0.5 * (1 + t) + 0.5 * a * (1 - t**2) * inner
    return dc * b * slope, dc * F.gelu(a, approximate="tanh")


TRUTH = "verified"
