"""Losses: cross entropy with label smoothing and ignore_index, online softmax over vocabulary tiles, logits overwritten by their gradient (Liger)."""
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    X_ptr, X_stride, Y_ptr, loss_ptr, n_cols, n_non_ignore_ptr,
    ignore_index: tl.constexpr, label_smoothing: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + row)
    X_ptr += row * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            tl.store(X_ptr + offs, 0.0, mask=offs < n_cols)
        return
    n = tl.load(n_non_ignore_ptr).to(tl.float32)
    x_y = tl.load(X_ptr + y)
    m = float("-inf")
    d = 0.0
    total = 0.0
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf"))
        total += tl.sum(tl.where(offs < n_cols, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    eps = label_smoothing / n_cols
    tl.debug_barrier()
    for i in range(0, n_cols, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(X_ptr + offs, mask=offs < n_cols, other=float("-inf"))
        g = tl.exp(x - m) / d - eps
        g = tl.where(offs == y, g - (1.0 - label_smoothing), g) / n
        tl.store(X_ptr + offs, g, mask=offs < n_cols)
    loss = (1.0 - label_smoothing) * (lse - x_y) + label_smoothing * lse - eps * total
    tl.store(loss_ptr + row, loss / n)


def launch(tokens=7, vocab=150):
    logits = torch.randn(tokens, vocab, device="cuda")
    labels = torch.randint(0, vocab, (tokens,), device="cuda")
    labels[2] = -100
    loss = torch.zeros(tokens, device="cuda")
    n = (labels != -100).sum()
    cross_entropy_kernel[(tokens,)](
        logits, logits.stride(0), labels, loss, vocab, n, ignore_index=-100, label_smoothing=0.1, BLOCK=64
    )
    return loss.sum(), logits


def reference(logits, labels):
    x = logits.detach().clone().requires_grad_()
    loss = torch.nn.functional.cross_entropy(x, labels, ignore_index=-100, label_smoothing=0.1)
    (dx,) = torch.autograd.grad(loss, x)
    return loss.detach(), dx

TRUTH = "verified"
