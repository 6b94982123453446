import torch
import triton
import triton.language as tl


# PageRank by pushes along edges: contributions, scatter, damping
@triton.jit
def contrib_kernel(rank_ptr, deg_ptr, contrib_ptr, acc_ptr, n, BLOCK: tl.constexpr):
    v = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = v < n
    r = tl.load(rank_ptr + v, mask=mask, other=0.0)
    deg = tl.load(deg_ptr + v, mask=mask, other=1)
    tl.store(contrib_ptr + v, r / deg.to(tl.float32), mask=mask)
    tl.store(acc_ptr + v, tl.zeros((BLOCK,), tl.float32), mask=mask)


@triton.jit
def push_kernel(src_ptr, dst_ptr, contrib_ptr, acc_ptr, n_edges, BLOCK: tl.constexpr):
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = e < n_edges
    src = tl.load(src_ptr + e, mask=mask, other=0)
    dst = tl.load(dst_ptr + e, mask=mask, other=0)
    c = tl.load(contrib_ptr + src, mask=mask, other=0.0)
    old = tl.load(acc_ptr + dst, mask=mask, other=0.0)
    tl.store(acc_ptr + dst, old + c, mask=mask)


@triton.jit
def damp_kernel(acc_ptr, out_ptr, damping, n, BLOCK: tl.constexpr):
    v = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = v < n
    a = tl.load(acc_ptr + v, mask=mask, other=0.0)
    tl.store(out_ptr + v, (1.0 - damping) / n + damping * a, mask=mask)


def pagerank_step(rank, deg, src, dst, damping=0.85):
    n, n_edges = rank.numel(), src.numel()
    contrib, acc, out = torch.empty_like(rank), torch.empty_like(rank), torch.empty_like(rank)
    nodes, edges = (triton.cdiv(n, 64),), (triton.cdiv(n_edges, 128),)
    contrib_kernel[nodes](rank, deg, contrib, acc, n, BLOCK=64)
    push_kernel[edges](src, dst, contrib, acc, n_edges, BLOCK=128)
    damp_kernel[nodes](acc, out, damping, n, BLOCK=64)
    return out


def launch(n=90, n_edges=400):
    rank = torch.rand(n, device="cuda")
    deg = torch.randint(1, 9, (n,), dtype=torch.int32, device="cuda")
    src = torch.randint(0, n, (n_edges,), device="cuda")
    dst = torch.randint(0, n, (n_edges,), device="cuda")
    return pagerank_step(rank, deg, src, dst)


def reference(rank, deg, src, dst):
    acc = torch.zeros_like(rank).index_add(0, dst, (rank / deg)[src])
    return (1 - 0.85) / rank.shape[0] + 0.85 * acc


TRUTH = "broken"
