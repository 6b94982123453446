"""index_add along dim 0: several sources may go to one row, so the sums are atomic."""
import torch
import triton
import triton.language as tl


@triton.jit
def index_add_kernel(out_ptr, index_ptr, src_ptr, n_src, n_cols, alpha, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    r_ok = r < n_src
    mask = r_ok[:, None] & (c < n_cols)[None, :]
    idx = tl.load(index_ptr + r, mask=r_ok, other=0)
    src = tl.load(src_ptr + r[:, None] * n_cols + c[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + idx[:, None] * n_cols + c[None, :], alpha * src, mask=mask)


def index_add(inp, index, src, alpha):
    out = inp.clone()
    grid = (triton.cdiv(src.shape[0], 8), triton.cdiv(src.shape[1], 32))
    index_add_kernel[grid](out, index, src, src.shape[0], src.shape[1], alpha, BLOCK_R=8, BLOCK_C=32)
    return out


def launch(rows=10, n=21, cols=45):
    inp = torch.randn(rows, cols, device="cuda")
    index = torch.randint(0, rows, (n,), device="cuda")
    src = torch.randn(n, cols, device="cuda")
    return index_add(inp, index, src, 2.0)


def reference(inp, index, src):
    return torch.index_add(inp, 0, index, src, alpha=2.0)


TRUTH = "verified"
