"""logcumsumexp along the last axis in chunks: an associative scan with logaddexp, carried from one chunk to the next."""
import torch
import triton
import triton.language as tl


@triton.jit
def _logaddexp(a, b):
    hi = tl.maximum(a, b)
    lo = tl.minimum(a, b)
    return hi + tl.log(1.0 + tl.exp(lo - hi))


@triton.jit
def _logcumsumexp_kernel(X, Y, T, stride_x, stride_y, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    idx = tl.arange(0, CHUNK)
    carry = float("-inf")
    for c in range(0, tl.cdiv(T, CHUNK)):
        t = c * CHUNK + idx
        # a finite filler: -inf next to -inf is no number
        x = tl.load(X + row * stride_x + t, mask=t < T, other=0.0)
        y = tl.associative_scan(x, 0, _logaddexp)
        y = _logaddexp(y, carry)
        tl.store(Y + row * stride_y + t, y, mask=t < T)
        carry = tl.sum(tl.where(idx == CHUNK - 1, y, 0.0), axis=0)


def launch(rows=4, T=50):
    x = torch.randn(rows, T, device="cuda")
    y = torch.empty_like(x)
    _logcumsumexp_kernel[(rows,)](x, y, T, x.stride(0), y.stride(0), CHUNK=16)
    return y


def reference(x):
    return torch.logcumsumexp(x, dim=-1)

TRUTH = "verified"
