"""Mean of the rows of each segment (CSR), as graph libraries write it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def segment_mean_kernel(x_ptr, indptr_ptr, indices_ptr, out_ptr, D, BLOCK_D: tl.constexpr):
    s = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    first = tl.load(indptr_ptr + s)
    last = tl.load(indptr_ptr + s + 1)
    acc = tl.zeros((BLOCK_D,), dtype=tl.float32)
    for e in range(first, last):
        node = tl.load(indices_ptr + e)
        acc += tl.load(x_ptr + node * D + d, mask=d < D, other=0.0)
    tl.store(out_ptr + s * D + d, acc, mask=d < D)


def launch(nodes=9, D=40):
    x = torch.randn(nodes, D, device="cuda")
    indptr = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    indices = torch.randint(0, nodes, (11,), dtype=torch.int32, device="cuda")
    S = indptr.shape[0] - 1
    out = torch.empty(S, D, device="cuda")
    segment_mean_kernel[(S, triton.cdiv(D, 32))](x, indptr, indices, out, D, BLOCK_D=32)
    return out


def reference(x, indptr, indices):
    e = torch.arange(indices.shape[0], device=x.device)
    member = (e[None, :] >= indptr[:-1, None]) & (e[None, :] < indptr[1:, None])
    return member.to(x.dtype) @ x[indices.long()]
