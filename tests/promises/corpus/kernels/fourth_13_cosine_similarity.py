"""Cosine similarity of two matrices row by row, looping over the columns, each norm held above eps; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def cosine_similarity_kernel(a_ptr, b_ptr, out_ptr, stride_a, stride_b, D, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    a_ptr += row * stride_a
    b_ptr += row * stride_b
    ab = tl.zeros([BLOCK], tl.float32)
    aa = tl.zeros([BLOCK], tl.float32)
    bb = tl.zeros([BLOCK], tl.float32)
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + cols, mask=cols < D, other=0.0)
        b = tl.load(b_ptr + cols, mask=cols < D, other=0.0)
        ab += a * b
        aa += a * a
        bb += b * b
    na = tl.maximum(tl.sqrt(tl.sum(aa, 0)), eps)
    nb = tl.maximum(tl.sqrt(tl.sum(bb, 0)), eps)
    tl.store(out_ptr + row, tl.sum(ab, 0) / (na * nb))


def launch(a=torch.randn(6, 100), b=torch.randn(6, 100)):
    M, D = a.shape
    out = torch.empty(M)
    cosine_similarity_kernel[(M,)](a, b, out, a.stride(0), b.stride(0), D, 1e-8, BLOCK=32)
    return out


def reference(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1).clamp(min=1e-8) * b.norm(dim=-1).clamp(min=1e-8))
