"""A graph convolution's aggregation with symmetric normalisation and self loops, over CSR:
out_i = d_i^-½ (Σ_j d_j^-½ x_j + d_i^-½ x_i)."""
import torch
import triton
import triton.language as tl


@triton.jit
def gcn_spmm_kernel(
    row_ptr, col_idx, dinv_ptr, x_ptr, out_ptr,
    stride_xn, stride_on, n_feat,
    BLOCK_F: tl.constexpr,
):
    node = tl.program_id(0)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    fmask = f < n_feat

    begin = tl.load(row_ptr + node)
    end = tl.load(row_ptr + node + 1)
    d_i = tl.load(dinv_ptr + node)

    acc = d_i * tl.load(x_ptr + node * stride_xn + f, mask=fmask, other=0.0)
    for e in range(begin, end):
        j = tl.load(col_idx + e)
        d_j = tl.load(dinv_ptr + j)
        acc += d_j * tl.load(x_ptr + j * stride_xn + f, mask=fmask, other=0.0)
    tl.store(out_ptr + node * stride_on + f, d_i * acc, mask=fmask)


def launch(nodes=11, edges=29, feat=19):
    x = torch.randn(nodes, feat, device="cuda")
    cuts = torch.sort(torch.randint(0, edges + 1, (nodes - 1,), device="cuda")).values
    rowptr = torch.cat([
        torch.zeros(1, dtype=torch.int64, device="cuda"), cuts, torch.full((1,), edges, dtype=torch.int64, device="cuda"),
    ])
    col = torch.randint(0, nodes, (edges,), device="cuda")
    deg = torch.rand(nodes, device="cuda") + 1.0
    dinv = torch.rsqrt(deg)
    out = torch.empty_like(x)
    grid = lambda meta: (nodes, triton.cdiv(feat, meta["BLOCK_F"]))
    gcn_spmm_kernel[grid](rowptr, col, dinv, x, out, x.stride(0), out.stride(0), feat, BLOCK_F=16)
    return out


def reference(x, rowptr, col, deg):
    dinv = deg.rsqrt()
    e = torch.arange(col.shape[0], device=x.device)
    member = (e[None, :] >= rowptr[:-1, None]) & (e[None, :] < rowptr[1:, None])
    messages = dinv[col][:, None] * x[col]
    return dinv[:, None] * (member.to(x.dtype) @ messages + dinv[:, None] * x)


TRUTH = "verified"
