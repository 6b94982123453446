"""Graph attention over CSR: softmax of leaky scores over a node's incoming edges, then the weighted sum of its neighbours."""
import torch
import triton
import triton.language as tl


@triton.jit
def gat_fwd_kernel(
    indptr_ptr, indices_ptr, el_ptr, er_ptr, feat_ptr, out_ptr,
    H, D, negative_slope,
    stride_fn, stride_fh,
    BLOCK_E: tl.constexpr, BLOCK_D: tl.constexpr,
):
    node = tl.program_id(0)
    head = tl.program_id(1)
    start = tl.load(indptr_ptr + node)
    end = tl.load(indptr_ptr + node + 1)
    er = tl.load(er_ptr + node * H + head)

    # first pass: running maximum and sum
    m = float("-inf")
    s = 0.0
    for e0 in range(start, end, BLOCK_E):
        e = e0 + tl.arange(0, BLOCK_E)
        mask = e < end
        src = tl.load(indices_ptr + e, mask=mask, other=0)
        x = tl.load(el_ptr + src * H + head, mask=mask, other=0.0) + er
        x = tl.where(x > 0, x, negative_slope * x)
        x = tl.where(mask, x, float("-inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new

    # second pass: one edge after the other
    d = tl.arange(0, BLOCK_D)
    d_mask = d < D
    acc = tl.zeros((BLOCK_D,), dtype=tl.float32)
    for e in range(start, end):
        src = tl.load(indices_ptr + e)
        x = tl.load(el_ptr + src * H + head) + er
        x = tl.where(x > 0, x, negative_slope * x)
        alpha = tl.exp(x - m) / s
        acc += alpha * tl.load(feat_ptr + src * stride_fn + head * stride_fh + d, mask=d_mask, other=0.0)
    tl.store(out_ptr + node * stride_fn + head * stride_fh + d, acc, mask=d_mask)


def launch(nodes=9, extra=31, heads=3, dim=11):
    # a self-loop for each node, and extra edges dealt out at random
    cuts = torch.randint(0, extra + 1, (nodes - 1,), device="cuda").sort().values
    ends = torch.cat([cuts, torch.full((1,), extra, device="cuda")])
    indptr = torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), ends + torch.arange(1, nodes + 1, device="cuda")])
    indices = torch.randint(0, nodes, (nodes + extra,), device="cuda")
    el = torch.randn(nodes, heads, device="cuda")
    er = torch.randn(nodes, heads, device="cuda")
    feat = torch.randn(nodes, heads, dim, device="cuda")
    out = torch.empty_like(feat)
    gat_fwd_kernel[(nodes, heads)](
        indptr, indices, el, er, feat, out,
        heads, dim, 0.2, feat.stride(0), feat.stride(1),
        BLOCK_E=16, BLOCK_D=triton.next_power_of_2(dim),
    )
    return out


def reference(indptr, indices, el, er, feat):
    e = torch.arange(indices.shape[0], device=indices.device)
    member = (e >= indptr[:-1, None]) & (e < indptr[1:, None])                    # nodes x edges
    score = torch.nn.functional.leaky_relu(el[indices][None] + er[:, None], 0.2)  # nodes x edges x heads
    alpha = torch.softmax(score.masked_fill(~member[..., None], float("-inf")), dim=1)
    return torch.einsum("neh,ehd->nhd", alpha, feat[indices])


TRUTH = "verified"
