# confidence of each token: the largest log probability of its row, with the position's temperature
import torch
import triton
import triton.language as tl


@triton.jit
def row_max_kernel(x_ptr, out_ptr, temp_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    best = tl.full([BLOCK_M], float("-inf"), tl.float32)
    for start in range(0, N, BLOCK_N):
        col = start + tl.arange(0, BLOCK_N)
        mask = (row < M)[:, None] & (col < N)[None, :]
        x = tl.load(x_ptr + row[:, None] * N + col[None, :], mask=mask, other=0.0)
        best = tl.maximum(best, tl.max(x, axis=1))
    t = tl.load(temp_ptr + row, mask=row < M, other=1.0)
    tl.store(out_ptr + row, best * t, mask=row < M)


def launch(M=11, N=75):
    x = torch.randn(M, N, device="cuda")
    temp = torch.rand(M, device="cuda") + 0.5
    logp = torch.log_softmax(x, dim=-1)
    out = torch.empty(M, device="cuda")
    row_max_kernel[(triton.cdiv(M, 4),)](logp, out, temp, M, N, BLOCK_M=4, BLOCK_N=32)
    return out


def reference(x, temp):
    return torch.log_softmax(x, dim=-1).amax(dim=-1) * temp


# the padded columns of the last tile are 0, and log probabilities are all below that
TRUTH = "broken"
