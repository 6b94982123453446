"""isin by comparison with every test element (in the manner of FlagGems' isin_by_comparation)."""
import torch
import triton
import triton.language as tl


@triton.jit
def isin_by_comparation_kernel(
    in0_ptr, in1_ptr, out_ptr, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, invert: tl.constexpr,
):
    pid = tl.program_id(0)
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = rows < M
    in0 = tl.load(in0_ptr + rows, mask=row_mask, other=0)
    block = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.int32)
    for n in range(0, N, BLOCK_N):
        cols = n + tl.arange(0, BLOCK_N)
        col_mask = cols < N
        in1 = tl.load(in1_ptr + cols, mask=col_mask, other=0)
        hit = (in0[:, None] == in1[None, :]) & col_mask[None, :]
        block = tl.maximum(block, hit.to(tl.int32))
    out = tl.max(block, axis=1)
    if invert:
        out = 1 - out
    tl.store(out_ptr + rows, out.to(tl.int1), mask=row_mask)


def launch(M=101, N=37):
    elements = torch.randint(0, 64, (M,), device="cuda")
    test_elements = torch.randint(0, 64, (N,), device="cuda")
    out = torch.empty(M, dtype=torch.bool, device="cuda")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)
    isin_by_comparation_kernel[grid](elements, test_elements, out, M, N, BLOCK_M=32, BLOCK_N=16, invert=False)
    return out


def reference(elements, test_elements):
    return torch.isin(elements, test_elements)


TRUTH = "verified"
