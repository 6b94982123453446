"""Apex's softmax cross-entropy with label smoothing: a forward kernel that keeps max + log Σ exp, and a backward kernel
that makes the gradient of the logits from it."""
import torch
import triton
import triton.language as tl


@triton.jit
def xentropy_fwd(logits_ptr, labels_ptr, loss_ptr, lse_ptr, stride, V, smoothing, BLOCK_V: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row * stride
    m = float("-inf")
    d = 0.0
    total = 0.0
    for start in range(0, V, BLOCK_V):
        offs = start + tl.arange(0, BLOCK_V)
        x = tl.load(logits_ptr + offs, mask=offs < V, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
        total += tl.sum(tl.where(offs < V, x, 0.0))
    lse = m + tl.log(d)
    label = tl.load(labels_ptr + row)
    x_y = tl.load(logits_ptr + label)
    loss = lse - (1.0 - smoothing) * x_y - smoothing * total / V
    tl.store(loss_ptr + row, loss)
    tl.store(lse_ptr + row, lse)


@triton.jit
def xentropy_bwd(grad_loss_ptr, logits_ptr, labels_ptr, lse_ptr, dlogits_ptr, stride, V, smoothing, BLOCK_V: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    g = tl.load(grad_loss_ptr + row)
    label = tl.load(labels_ptr + row)
    lse = tl.load(lse_ptr + row)
    x = tl.load(logits_ptr + row * stride + offs, mask=offs < V, other=float("-inf"))
    p = tl.exp(x - lse)
    p = tl.where(offs == label, p - (1.0 - smoothing), p)
    tl.store(dlogits_ptr + row * stride + offs, g * (p - smoothing / V), mask=offs < V)


def launch(rows=7, vocab=151):
    logits = torch.randn(rows, vocab, device="cuda")
    labels = torch.randint(0, vocab, (rows,), device="cuda")
    grad_loss = torch.randn(rows, device="cuda")
    loss = torch.empty(rows, device="cuda")
    lse = torch.empty(rows, device="cuda")
    dlogits = torch.empty_like(logits)
    BLOCK_V = 64
    xentropy_fwd[(rows,)](logits, labels, loss, lse, logits.stride(0), vocab, 0.1, BLOCK_V=BLOCK_V)
    xentropy_bwd[(rows, triton.cdiv(vocab, BLOCK_V))](
        grad_loss, logits, labels, lse, dlogits, logits.stride(0), vocab, 0.1, BLOCK_V=BLOCK_V,
    )
    return loss, dlogits


def reference(logits, labels, grad_loss):
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none", label_smoothing=0.1)
    vocab = logits.shape[-1]
    target = 0.9 * torch.nn.functional.one_hot(labels, vocab).to(logits.dtype) + 0.1 / vocab
    return loss, grad_loss[:, None] * (logits.softmax(-1) - target)


TRUTH = "verified"
