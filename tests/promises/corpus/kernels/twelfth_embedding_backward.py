"""Two programs whose tokens have the same id load, add and store one row of the gradient without an atomic: a race that loses additions."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding_backward_kernel(dy_ptr, ids_ptr, grad_ptr, dim, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < dim
    row = tl.load(ids_ptr + token)
    dy = tl.load(dy_ptr + token * dim + cols, mask=mask, other=0.0)
    old = tl.load(grad_ptr + row * dim + cols, mask=mask, other=0.0)
    tl.store(grad_ptr + row * dim + cols, old + dy, mask=mask)


def launch(tokens=40, vocab=9, dim=48):
    dy = torch.randn(tokens, dim, device="cuda")
    ids = torch.randint(0, vocab, (tokens,), device="cuda")
    grad = torch.zeros(vocab, dim, device="cuda")
    embedding_backward_kernel[(tokens, triton.cdiv(dim, 32))](dy, ids, grad, dim, BLOCK=32)
    return grad


def reference(dy, ids, vocab):
    grad = torch.zeros(vocab, dy.shape[1], dtype=dy.dtype, device=dy.device)
    return grad.index_add(0, ids, dy)


TRUTH = "broken"
