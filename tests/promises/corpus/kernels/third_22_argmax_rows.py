import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.heuristics({"BLOCK_N": lambda args: triton.next_power_of_2(args["N"])})
@triton.jit
def argmax_kernel(inp, out_index, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    m = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    mask = (m[:, None] < M) & (n[None, :] < N)
    vals = tl.load(inp + m[:, None] * N + n[None, :], mask=mask, other=-float("inf"))
    idx = tl.argmax(vals, axis=1)
    tl.store(out_index + m, idx.to(tl.int64), mask=m < M)


def launch(x):
    M, N = x.shape
    out = torch.empty(M, dtype=torch.int64, device=x.device)
    argmax_kernel[(triton.cdiv(M, 4),)](x, out, M, N, BLOCK_M=4)
    return out


def reference(x):
    return torch.argmax(x, dim=1)


def inputs(M=11, N=45):
    return (torch.randn(M, N),)
