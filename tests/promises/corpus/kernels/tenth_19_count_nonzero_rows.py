"""count_nonzero along the last dimension, block by block (FlagGems)."""
import torch
import triton
import triton.language as tl


@triton.jit
def count_nonzero_kernel(x_ptr, out_ptr, N, BLOCK_SIZE: tl.constexpr):
    pid_x = tl.program_id(0)
    x_ptr += pid_x * N
    cnt = tl.zeros((BLOCK_SIZE,), dtype=tl.int64)
    for start_n in range(0, N, BLOCK_SIZE):
        cols = start_n + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        x = tl.load(x_ptr + cols, mask=mask, other=0)
        is_nonzero = (x != 0).to(tl.int64)
        cnt += is_nonzero
    tl.store(out_ptr + pid_x, tl.sum(cnt, axis=0))


def launch(M=9, N=143):
    x = torch.randn(M, N, device="cuda").relu()
    out = torch.empty(M, dtype=torch.int64, device="cuda")
    count_nonzero_kernel[(M,)](x, out, N, BLOCK_SIZE=64)
    return out


def reference(x):
    return torch.count_nonzero(x, dim=-1)


TRUTH = "verified"
