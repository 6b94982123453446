import torch
import triton
import triton.language as tl


# PyG / DGL: maximum of the neighbours' features (GraphSAGE pooling), nodes without neighbours get zeros
@triton.jit
def neighbour_max(x_ptr, rowptr_ptr, col_ptr, out_ptr, dim, BLOCK: tl.constexpr):
    node = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = d < dim
    begin = tl.load(rowptr_ptr + node)
    end = tl.load(rowptr_ptr + node + 1)
    best = tl.full([BLOCK], float("-inf"), dtype=tl.float32)
    for e in range(begin, end):
        j = tl.load(col_ptr + e)
        best = tl.maximum(best, tl.load(x_ptr + j * dim + d, mask=ok, other=float("-inf")))
    best = tl.where(end > begin, best, 0.0)
    tl.store(out_ptr + node * dim + d, best, mask=ok)


def launch(nodes=7, edges=19, sources=9, dim=20):
    x = torch.randn(sources, dim, device="cuda")
    rowptr = torch.randint(0, edges + 1, (nodes + 1,), device="cuda").sort().values
    col = torch.randint(0, sources, (edges,), device="cuda")
    out = torch.empty(nodes, dim, device="cuda")
    neighbour_max[(nodes, triton.cdiv(dim, 16))](x, rowptr, col, out, dim, BLOCK=16)
    return out


launch.assume = ["0 <= rowptr <= edges", "0 <= col < sources"]


def reference(x, rowptr, col):
    e = torch.arange(col.shape[0], device=x.device)
    member = (e >= rowptr[:-1, None]) & (e < rowptr[1:, None])
    best = x[col].masked_fill(~member[:, :, None], float("-inf")).amax(1)
    return torch.where((rowptr[1:] > rowptr[:-1])[:, None], best, 0.0)


TRUTH = "verified"
