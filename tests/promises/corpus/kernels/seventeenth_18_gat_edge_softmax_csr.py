"""Graph: GAT aggregation on a CSR graph: leaky-relu edge scores, softmax over the incoming edges of each node and head, weighted sum of neighbours."""
import torch
import triton
import triton.language as tl


@triton.jit
def gat_aggregate_kernel(
    rowptr_ptr, col_ptr, src_score_ptr, dst_score_ptr, h_ptr, out_ptr,
    heads, dim, stride_hn, stride_hh, stride_on, stride_oh,
    slope: tl.constexpr, BLOCK_D: tl.constexpr,
):
    node, head = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, BLOCK_D)
    d_mask = d < dim
    start = tl.load(rowptr_ptr + node)
    end = tl.load(rowptr_ptr + node + 1)
    dst = tl.load(dst_score_ptr + node * heads + head)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for e in range(start, end):
        src = tl.load(col_ptr + e)
        s = tl.load(src_score_ptr + src * heads + head) + dst
        s = tl.where(s > 0, s, s * slope)
        m_new = tl.maximum(m, s)
        alpha = tl.exp(m - m_new)
        w = tl.exp(s - m_new)
        x = tl.load(h_ptr + src * stride_hn + head * stride_hh + d, mask=d_mask, other=0.0)
        acc = acc * alpha + w * x
        l = l * alpha + w
        m = m_new
    tl.store(out_ptr + node * stride_on + head * stride_oh + d, acc / l, mask=d_mask)


def launch(nodes=8, heads=2, dim=20, degree=3):
    # every node has at least one edge (self loops are added by the caller); here each has `degree`
    col = torch.randint(0, nodes, (nodes * degree,), device="cuda", dtype=torch.int32)
    rowptr = torch.arange(nodes + 1, device="cuda", dtype=torch.int32) * degree
    src_score = torch.randn(nodes, heads, device="cuda")
    dst_score = torch.randn(nodes, heads, device="cuda")
    h = torch.randn(nodes, heads, dim, device="cuda")
    out = torch.empty_like(h)
    gat_aggregate_kernel[(nodes, heads)](
        rowptr, col, src_score, dst_score, h, out, heads, dim,
        h.stride(0), h.stride(1), out.stride(0), out.stride(1), slope=0.2, BLOCK_D=triton.next_power_of_2(dim),
    )
    return out


def reference(col, src_score, dst_score, h, degree):
    neighbours = col.long().view(-1, degree)
    s = torch.nn.functional.leaky_relu(src_score[neighbours] + dst_score[:, None, :], 0.2)
    return (s.softmax(dim=1)[..., None] * h[neighbours]).sum(dim=1)

TRUTH = "verified"
