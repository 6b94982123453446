import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def dropout_add(x_ptr, keep_ptr, res_ptr, out_ptr, n_elements, p, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.load(keep_ptr + offsets, mask=mask)
    res = tl.load(res_ptr + offsets, mask=mask)
    dropped = tl.where(keep, x / (1 - p), 0.0)
    tl.store(out_ptr + offsets, res + dropped, mask=mask)


def launch(x, keep, residual, p=0.25):
    out = torch.empty_like(x)
    n = x.numel()
    dropout_add[(triton.cdiv(n, 128),)](x, keep, residual, out, n, p, BLOCK_SIZE=128)
    return out


def reference(x, keep, residual, p=0.25):
    return residual + x * keep.to(x.dtype) / (1 - p)


def inputs(rows=9, cols=41):
    return torch.randn(rows, cols), torch.rand(rows, cols) > 0.25, torch.randn(rows, cols)
