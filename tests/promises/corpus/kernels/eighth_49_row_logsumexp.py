import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = tl.full([BLOCK], -float("inf"), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        m = tl.maximum(m, tl.load(x_ptr + row * stride + cols, mask=cols < N, other=-float("inf")))
    top = tl.max(m, axis=0)
    s = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + cols, mask=cols < N, other=-float("inf"))
        s += tl.exp(x - top)
    tl.store(out_ptr + row, top + tl.log(tl.sum(s, axis=0)))


def launch(M=5, N=90):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    logsumexp_kernel[(M,)](x, out, N, x.stride(0), BLOCK=32)
    return out


def reference(x):
    return torch.logsumexp(x, dim=1)


TRUTH = "verified"
