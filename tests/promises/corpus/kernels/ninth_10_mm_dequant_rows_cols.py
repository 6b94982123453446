"""LLM.int8()'s dequantisation of an int32 product by row and column statistics (bitsandbytes' int8_mm_dequant)."""
import torch
import triton
import triton.language as tl


@triton.jit
def int8_mm_dequant_kernel(
    A, row_stats, col_stats, bias, out,
    num_rows, num_cols,
    HAS_BIAS: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    rmask = r < num_rows
    cmask = c < num_cols
    mask = rmask[:, None] & cmask[None, :]
    offs = r[:, None] * num_cols + c[None, :]

    MM_DEQUANT_CONST: tl.constexpr = 6.200012e-05  # 1 / (127 * 127)
    acc = tl.load(A + offs, mask=mask, other=0)
    rs = tl.load(row_stats + r, mask=rmask, other=0.0)
    cs = tl.load(col_stats + c, mask=cmask, other=0.0)
    val = acc.to(tl.float32) * (rs[:, None] * cs[None, :] * MM_DEQUANT_CONST)
    if HAS_BIAS:
        b = tl.load(bias + c, mask=cmask, other=0.0)
        val += b[None, :]
    tl.store(out + offs, val, mask=mask)


def launch(rows=13, cols=45):
    A = torch.randint(-20000, 20000, (rows, cols), dtype=torch.int32, device="cuda")
    row_stats = torch.rand(rows, device="cuda") + 0.5
    col_stats = torch.rand(cols, device="cuda") + 0.5
    bias = torch.randn(cols, device="cuda")
    out = torch.empty(rows, cols, device="cuda")
    grid = lambda m: (triton.cdiv(rows, m["BLOCK_R"]), triton.cdiv(cols, m["BLOCK_C"]))
    int8_mm_dequant_kernel[grid](A, row_stats, col_stats, bias, out, rows, cols, HAS_BIAS=True, BLOCK_R=8, BLOCK_C=32)
    return out


def reference(A, row_stats, col_stats, bias):
    return A * (row_stats[:, None] * col_stats[None, :] * 6.200012e-05) + bias


TRUTH = "verified"
