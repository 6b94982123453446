"""Cumulative sum along rows divided by the row's total, as for sampling from a distribution."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def normed_cumsum_kernel(inp, out, r_stride, o_stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    inp += row * r_stride
    out += row * o_stride
    total = 0.0
    for start in range(0, N, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(inp + offs, mask=offs < N, other=0.0)
        total += tl.sum(x, axis=0)
    carry = 0.0
    for start in range(0, N, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(inp + offs, mask=offs < N, other=0.0)
        y = carry + tl.cumsum(x, axis=0)
        tl.store(out + offs, y / total, mask=offs < N)
        carry += tl.sum(x, axis=0)


def launch():
    B, N = 12, 330
    probs = torch.rand(B, N) + 0.01
    cdf = torch.empty_like(probs)
    normed_cumsum_kernel[(B,)](probs, cdf, probs.stride(0), cdf.stride(0), N, BLOCK=128)
    return cdf


def reference(probs):
    return torch.cumsum(probs, dim=-1) / probs.sum(-1, keepdim=True)
