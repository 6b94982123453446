"""Total variation distance of two distributions with its gradient, a row per program, summed and divided on the host."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def tvd_kernel(p_ptr, p_stride, q_ptr, q_stride, loss_ptr, grad_ptr, grad_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    p_ptr += row * p_stride
    q_ptr += row * q_stride
    grad_ptr += row * grad_stride
    total = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        offs = start + tl.arange(0, BLOCK_SIZE)
        mask = offs < n_cols
        p = tl.load(p_ptr + offs, mask=mask, other=0.0)
        q = tl.load(q_ptr + offs, mask=mask, other=0.0)
        grad = tl.where(p > q, 0.5, -0.5) / n_rows
        tl.store(grad_ptr + offs, grad, mask=mask)
        total += tl.sum(0.5 * tl.abs(p - q), axis=0)
    tl.store(loss_ptr + row, total / n_rows)


def launch():
    rows, vocab = 22, 700
    p = torch.softmax(torch.randn(rows, vocab), dim=-1)
    q = torch.softmax(torch.randn(rows, vocab), dim=-1)
    row_loss = torch.empty(rows)
    grad = torch.empty_like(p)
    tvd_kernel[(rows,)](p, p.stride(0), q, q.stride(0), row_loss, grad, grad.stride(0), rows, vocab, BLOCK_SIZE=256)
    return row_loss, grad


def reference(p, q):
    rows = p.shape[0]
    row_loss = 0.5 * (p - q).abs().sum(-1) / rows
    grad = torch.where(p > q, 0.5, -0.5) / rows
    return row_loss, grad
