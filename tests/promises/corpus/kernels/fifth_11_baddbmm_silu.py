"""silu(beta·bias + alpha·a@b) in batches, with strides of every dimension and a bias that is broadcast over the batch."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.autotune(
    configs=[
        triton.Config({"TILE_M": 16, "TILE_N": 16, "TILE_K": 16}, num_warps=4),
        triton.Config({"TILE_M": 32, "TILE_N": 16, "TILE_K": 32}, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def baddbmm_kernel(
    A, B, O, bias, alpha, beta, M, N, K,
    sab, sam, sak, sbb, sbk, sbn, sob, som, son, scb, scm, scn,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    pid_b = tl.program_id(2)
    offs_m = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    offs_n = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    a_ptrs = A + pid_b * sab + offs_m[:, None] * sam + offs_k[None, :] * sak
    b_ptrs = B + pid_b * sbb + offs_k[:, None] * sbk + offs_n[None, :] * sbn
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        left = K - k * TILE_K
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, allow_tf32=False)
        a_ptrs += TILE_K * sak
        b_ptrs += TILE_K * sbk
    mask_c = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    c = tl.load(bias + pid_b * scb + offs_m[:, None] * scm + offs_n[None, :] * scn, mask=mask_c, other=0.0)
    acc = acc * alpha + c * beta
    out = acc * tl.sigmoid(acc)
    tl.store(O + pid_b * sob + offs_m[:, None] * som + offs_n[None, :] * son, out, mask=mask_c)


def launch():
    batch, M, N, K = 3, 37, 26, 50
    a = torch.randn(batch, M, K)
    b = torch.randn(batch, K, N)
    bias = torch.randn(N)
    spread = bias.expand(batch, M, N)
    out = torch.empty(batch, M, N)
    grid = lambda meta: (triton.cdiv(M, meta["TILE_M"]), triton.cdiv(N, meta["TILE_N"]), batch)
    baddbmm_kernel[grid](
        a, b, out, spread, 0.5, 2.0, M, N, K, *a.stride(), *b.stride(), *out.stride(), *spread.stride(),
    )
    return out


def reference(a, b, bias):
    return torch.nn.functional.silu(0.5 * torch.bmm(a, b) + 2.0 * bias)
