"""Sampled dense-dense product on a graph's edges (u_dot_v of DGL), one dot product for each edge and head."""
import torch
import triton
import triton.language as tl


@triton.jit
def u_dot_v_kernel(
    u_ptr, v_ptr, src_ptr, dst_ptr, out_ptr,
    n_edges, n_heads, dim,
    BLOCK_E: tl.constexpr, BLOCK_D: tl.constexpr,
):
    e = tl.program_id(0) * BLOCK_E + tl.arange(0, BLOCK_E)
    h = tl.program_id(1)
    live = e < n_edges
    src = tl.load(src_ptr + e, mask=live, other=0)
    dst = tl.load(dst_ptr + e, mask=live, other=0)
    acc = tl.zeros([BLOCK_E], dtype=tl.float32)
    for start in range(0, dim, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        m = live[:, None] & (d < dim)[None, :]
        a = tl.load(u_ptr + (src[:, None] * n_heads + h) * dim + d[None, :], mask=m, other=0.0)
        b = tl.load(v_ptr + (dst[:, None] * n_heads + h) * dim + d[None, :], mask=m, other=0.0)
        acc += tl.sum(a * b, axis=1)
    tl.store(out_ptr + e * n_heads + h, acc, mask=live)


def launch(n_src=9, n_dst=7, n_edges=30, n_heads=2, dim=20):
    u = torch.randn(n_src, n_heads, dim, device="cuda")
    v = torch.randn(n_dst, n_heads, dim, device="cuda")
    src = torch.randint(0, n_src, (n_edges,), device="cuda")
    dst = torch.randint(0, n_dst, (n_edges,), device="cuda")
    out = torch.empty(n_edges, n_heads, device="cuda")
    u_dot_v_kernel[(triton.cdiv(n_edges, 16), n_heads)](u, v, src, dst, out, n_edges, n_heads, dim, BLOCK_E=16, BLOCK_D=16)
    return out


def reference(u, v, src, dst):
    return (u[src] * v[dst]).sum(dim=-1)


TRUTH = "verified"
