"""Log-softmax of long rows in two passes, the first one online over blocks, in the manner of FlagGems; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def log_softmax_kernel(out_ptr, in_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    m = tl.full([BLOCK_M, BLOCK_N], value=float("-inf"), dtype=tl.float32)
    z = tl.full([BLOCK_M, BLOCK_N], value=0.0, dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = (rows < M)[:, None] & (cols < N)[None, :]
        x = tl.load(in_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(x, m)
        never = m_new == float("-inf")
        z = tl.where(never, z, z * tl.exp(m - m_new) + tl.exp(x - m_new))
        m = m_new
    m_row = tl.max(m, 1)
    z = tl.sum(z * tl.exp(m - m_row[:, None]), 1)
    lse = m_row + tl.log(z)
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = (rows < M)[:, None] & (cols < N)[None, :]
        offsets = rows[:, None] * N + cols[None, :]
        x = tl.load(in_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + offsets, x - lse[:, None], mask=mask)


def log_softmax(x):
    M, N = x.shape
    out = torch.empty_like(x)
    BLOCK_M, BLOCK_N = 4, 32
    log_softmax_kernel[(triton.cdiv(M, BLOCK_M),)](out, x, M, N, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return out


def launch(M=10, N=100):
    x = torch.randn(M, N)
    return log_softmax(x)


def reference(x):
    return torch.nn.functional.log_softmax(x, dim=-1)
