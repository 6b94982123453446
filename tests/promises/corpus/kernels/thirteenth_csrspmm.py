"""csrspmm, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _csr_spmm_kernel(
    crow_ptr,
    col_ptr,
    val_ptr,
    x_ptr,
    out_ptr,
    n_feat,
    stride_x,
    stride_o,
    BLOCK_F: tl.constexpr,
):
    row = tl.program_id(0)
    feat = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    mask = feat < n_feat
    start = tl.load(crow_ptr + row)
    end = tl.load(crow_ptr + row + 1)
    acc = tl.zeros([BLOCK_F], dtype=tl.float32)
    for e in range(start, end):
        col = tl.load(col_ptr + e)
        val = tl.load(val_ptr + e)
        acc += val * tl.load(x_ptr + col * stride_x + feat, mask=mask, other=0.0)
    tl.store(out_ptr + row * stride_o + feat, acc, mask=mask)


def csr_spmm(crow, col, val, x):
    n_rows = crow.numel() - 1
    out = torch.empty((n_rows, x.shape[1]), dtype=x.dtype, device=x.device)
    grid = lambda meta: (n_rows, triton.cdiv(x.shape[1], meta["BLOCK_F"]))
    _csr_spmm_kernel[grid](crow, col, val, x, out, x.shape[1], x.stride(0), out.stride(0), BLOCK_F=32)
    return out


def launch(rows=6, cols=9, nnz=20, feats=40):
    crow = torch.randint(0, nnz + 1, (rows + 1,), device="cuda").sort().values
    crow[0] = 0
    crow[-1] = nnz
    col = torch.randint(0, cols, (nnz,), device="cuda")
    val = torch.randn(nnz, device="cuda")
    x = torch.randn(cols, feats, device="cuda")
    return csr_spmm(crow, col, val, x)


def reference(crow, col, val, x):
    e = torch.arange(val.shape[0], device=val.device)
    member = (e[None, :] >= crow[:-1, None]) & (e[None, :] < crow[1:, None])
    return (member * val) @ x[col]


TRUTH = "verified"
