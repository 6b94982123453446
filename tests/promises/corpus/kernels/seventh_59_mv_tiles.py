"""torch.mv: a tile of rows for each program, columns in a loop, one sum at the end."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_N": n, "BLOCK_M": m}, num_warps=4, num_stages=s)
        for n in (16, 32) for m in (32, 64) for s in (2,)
    ],
    key=["M", "N"],
)
@triton.jit
def mv_kernel(
    A, B, C, N, M,
    stride_an, stride_am, stride_bm, stride_cn,
    BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr,
):
    pid = tl.program_id(0)
    offset_n = pid * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    offset_m = tl.arange(0, BLOCK_M)[None, :]
    n_mask = offset_n < N
    A_ptrs = A + offset_n * stride_an + offset_m * stride_am
    B_ptrs = B + offset_m * stride_bm
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for m in range(0, M, BLOCK_M):
        m_mask = m + offset_m < M
        a = tl.load(A_ptrs, mask=n_mask & m_mask, other=0.0).to(tl.float32)
        b = tl.load(B_ptrs, mask=m_mask, other=0.0).to(tl.float32)
        acc += a * b
        A_ptrs += BLOCK_M * stride_am
        B_ptrs += BLOCK_M * stride_bm
    acc = tl.sum(acc, axis=1)
    C_ptrs = C + offset_n * stride_cn
    tl.store(C_ptrs, acc[:, None], mask=n_mask)


def mv(inp, vec):
    N, M = inp.shape
    out = torch.empty((N,), device=inp.device, dtype=inp.dtype)
    grid = lambda META: (triton.cdiv(N, META["BLOCK_N"]),)
    mv_kernel[grid](
        inp, vec, out, N, M, inp.stride(0), inp.stride(1), vec.stride(0), out.stride(0)
    )
    return out


def launch(N=37, M=70):
    inp = torch.randn(N, M, device="cuda")
    vec = torch.randn(M, device="cuda")
    return mv(inp, vec)


def reference(inp, vec):
    return torch.mv(inp, vec)


TRUTH = "verified"
