"""Embedding-bag (sum) backward, weighted per sample; BUG: rows of the gradient are read, added to and stored without atomics, a race where two bags hold one index."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding_bag_bwd(grad_ptr, idx_ptr, psw_ptr, dw_ptr, L, D, BLOCK_D: tl.constexpr):
    bag = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    ok = d < D
    g = tl.load(grad_ptr + bag * D + d, mask=ok, other=0.0)
    for j in range(L):
        idx = tl.load(idx_ptr + bag * L + j)
        s = tl.load(psw_ptr + bag * L + j)
        p = dw_ptr + idx * D + d
        old = tl.load(p, mask=ok, other=0.0)
        tl.store(p, old + s * g, mask=ok)


def launch(bags=12, L=5, V=40, D=50):
    grad = torch.randn(bags, D, device="cuda")
    indices = torch.randint(0, V, (bags, L), device="cuda")
    per_sample = torch.rand(bags, L, device="cuda")
    dw = torch.zeros(V, D, device="cuda")
    embedding_bag_bwd[(bags, triton.cdiv(D, 32))](grad, indices, per_sample, dw, L, D, BLOCK_D=32)
    return dw


def reference(grad, indices, per_sample, V):
    rows = (per_sample[:, :, None] * grad[:, None, :]).reshape(-1, grad.shape[1])
    return torch.zeros(V, grad.shape[1], device=grad.device).index_add(0, indices.reshape(-1), rows)
TRUTH = "broken"
