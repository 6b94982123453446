"""PReLU with one slope a channel, on (N, C, L)."""
import torch
import triton
import triton.language as tl


@triton.jit
def prelu_kernel(x_ptr, w_ptr, out_ptr, C, L, x_sn, x_sc, o_sn, o_sc, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    n, c = nc // C, nc % C
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < L
    w = tl.load(w_ptr + c)
    x = tl.load(x_ptr + n * x_sn + c * x_sc + cols, mask=mask)
    tl.store(out_ptr + n * o_sn + c * o_sc + cols, tl.where(x > 0, x, w * x), mask=mask)


def launch(N=3, C=11, L=77):
    x = torch.randn(N, C, L, device="cuda")
    weight = torch.full((C,), 0.25, device="cuda") + 0.1 * torch.randn(C, device="cuda")
    out = torch.empty_like(x)
    prelu_kernel[(N * C, triton.cdiv(L, 64))](
        x, weight, out, C, L, x.stride(0), x.stride(1), out.stride(0), out.stride(1), BLOCK=64
    )
    return out


def reference(x, weight):
    return torch.nn.functional.prelu(x, weight)


TRUTH = "verified"
