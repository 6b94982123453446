"""Matrix-vector product with llama.cpp's Q4_0 weights: blocks of 32, a half scale, low nibbles first."""
import torch
import triton
import triton.language as tl


@triton.jit
def q4_0_gemv_kernel(
    qs_ptr, d_ptr, x_ptr, y_ptr,
    n_rows, n_blocks,
    BLOCK_R: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    row_mask = rows < n_rows
    j = tl.arange(0, 16)
    acc = tl.zeros((BLOCK_R,), dtype=tl.float32)
    for blk in range(n_blocks):
        d = tl.load(d_ptr + rows * n_blocks + blk, mask=row_mask, other=0.0).to(tl.float32)
        q = tl.load(
            qs_ptr + (rows[:, None] * n_blocks + blk) * 16 + j[None, :], mask=row_mask[:, None], other=0
        )
        lo = (q & 0x0F).to(tl.float32) - 8.0
        hi = (q >> 4).to(tl.float32) - 8.0
        x_lo = tl.load(x_ptr + blk * 32 + j)
        x_hi = tl.load(x_ptr + blk * 32 + 16 + j)
        acc += d * tl.sum(lo * x_lo[None, :] + hi * x_hi[None, :], axis=1)
    tl.store(y_ptr + rows, acc, mask=row_mask)


def launch(n_rows=21, n_blocks=5):
    qs = torch.randint(0, 256, (n_rows, n_blocks, 16), dtype=torch.uint8, device="cuda")
    d = torch.rand(n_rows, n_blocks, device="cuda", dtype=torch.float16)
    x = torch.randn(n_blocks * 32, device="cuda")
    y = torch.empty(n_rows, device="cuda", dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(n_rows, meta["BLOCK_R"]),)
    q4_0_gemv_kernel[grid](qs, d, x, y, n_rows, n_blocks, BLOCK_R=8)
    return y


def reference(qs, d, x):
    low = (qs & 0x0F).to(torch.float32) - 8
    high = (qs >> 4).to(torch.float32) - 8
    w = torch.cat([low, high], dim=-1) * d.to(torch.float32)[:, :, None]
    return (w.flatten(1) * x).sum(-1)


TRUTH = "verified"
