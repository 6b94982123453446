"""Softmax over the middle dimension of three, with tiles that a heuristic chooses and a second pass over them."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


def tile_k_heuristic(args):
    return min(64, triton.next_power_of_2(args["K"]))


@triton.heuristics({"TILE_K": tile_k_heuristic})
@triton.jit
def softmax_non_inner_kernel(out_ptr, in_ptr, M, N, K, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_k = tl.program_id(1)
    k = pid_k * TILE_K + tl.arange(0, TILE_K)
    m = tl.full([TILE_K], value=float("-inf"), dtype=tl.float32)
    z = tl.full([TILE_K], value=0.0, dtype=tl.float32)
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        offsets = pid_m * N * K + n[:, None] * K + k[None, :]
        mask = (n[:, None] < N) & (k[None, :] < K)
        x = tl.load(in_ptr + offsets, mask=mask, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        z = z * tl.exp(m - safe) + tl.sum(tl.exp(x - safe[None, :]), 0)
        m = m_new
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        offsets = pid_m * N * K + n[:, None] * K + k[None, :]
        mask = (n[:, None] < N) & (k[None, :] < K)
        x = tl.load(in_ptr + offsets, mask=mask, other=0.0)
        y = tl.exp(x - m[None, :]) / z[None, :]
        tl.store(out_ptr + offsets, y, mask=mask)


def softmax(x, dim):
    M = 1
    for size in x.shape[:dim]:
        M *= size
    N = x.shape[dim]
    K = x.numel() // M // N
    out = torch.empty_like(x)
    grid = lambda meta: (M, triton.cdiv(K, meta["TILE_K"]))
    softmax_non_inner_kernel[grid](out, x, M, N, K, TILE_N=16)
    return out


def launch():
    x = torch.randn(5, 39, 70)
    out = softmax(x, 1)
    return out


def reference(x):
    return torch.softmax(x, dim=1)
