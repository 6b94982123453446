"""A reversible residual: one launch adds seeded dropout, the next one takes it off again with the same seed."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def dropout_add_kernel(x_ptr, res_ptr, out_ptr, n, p, seed, sign, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    res = tl.load(res_ptr + offs, mask=mask, other=0.0)
    keep = tl.rand(seed, offs) > p
    dropped = tl.where(keep, x / (1.0 - p), 0.0)
    tl.store(out_ptr + offs, res + sign * dropped, mask=mask)


def launch():
    n = 1500
    x = torch.randn(n)
    residual = torch.randn(n)
    forward = torch.empty(n)
    restored = torch.empty(n)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    dropout_add_kernel[grid](x, residual, forward, n, 0.3, 1234, 1.0, BLOCK=256)
    dropout_add_kernel[grid](x, forward, restored, n, 0.3, 1234, -1.0, BLOCK=256)
    return restored


def reference(residual):
    return residual
