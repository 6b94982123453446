"""Gradient of softmax from its output, with several rows in a tile; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def softmax_backward_kernel(out_ptr, out_grad_ptr, in_grad_ptr, M, N, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    pid_m = tl.program_id(0)
    m_offsets = pid_m * TILE_M + tl.arange(0, TILE_M)
    scale = tl.zeros([TILE_M, TILE_N], dtype=tl.float32)
    n_offsets = tl.arange(0, TILE_N)
    offsets = m_offsets[:, None] * N + n_offsets
    for _ in range(0, N, TILE_N):
        mask = (m_offsets[:, None] < M) & (n_offsets < N)
        out_tile = tl.load(out_ptr + offsets, mask=mask, other=0.0)
        grad_tile = tl.load(out_grad_ptr + offsets, mask=mask, other=0.0)
        scale += out_tile * grad_tile
        n_offsets += TILE_N
        offsets += TILE_N
    s = tl.sum(scale, axis=1)
    n_offsets = tl.arange(0, TILE_N)
    offsets = m_offsets[:, None] * N + n_offsets
    for _ in range(0, N, TILE_N):
        mask = (m_offsets[:, None] < M) & (n_offsets < N)
        out_tile = tl.load(out_ptr + offsets, mask=mask)
        grad_tile = tl.load(out_grad_ptr + offsets, mask=mask)
        tl.store(in_grad_ptr + offsets, out_tile * (grad_tile - s[:, None]), mask=mask)
        n_offsets += TILE_N
        offsets += TILE_N


def launch(M=7, N=90):
    out = torch.softmax(torch.randn(M, N), dim=-1)
    out_grad = torch.randn(M, N)
    in_grad = torch.empty_like(out)
    TILE_M = 4
    softmax_backward_kernel[(triton.cdiv(M, TILE_M),)](out, out_grad, in_grad, M, N, TILE_M=TILE_M, TILE_N=32)
    return in_grad


def reference(out, out_grad):
    return out * (out_grad - (out * out_grad).sum(-1, keepdim=True))
