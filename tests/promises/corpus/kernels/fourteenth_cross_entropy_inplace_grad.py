"""Liger-style cross entropy: online log-sum-exp over vocabulary tiles, label smoothing, ignore_index, and the logits overwritten by their gradient."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, stride, labels_ptr, dloss_ptr, loss_ptr, V, ignore_index, SMOOTHING: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    logits_ptr += row * stride
    y = tl.load(labels_ptr + row)
    cols = tl.arange(0, BLOCK)

    if y == ignore_index:
        for i in range(0, V, BLOCK):
            tl.store(logits_ptr + i + cols, 0.0, mask=i + cols < V)
        tl.store(loss_ptr + row, 0.0)
        return

    x_y = tl.load(logits_ptr + y)
    m = float("-inf")
    d = 0.0
    total = 0.0
    for i in range(0, V, BLOCK):
        x = tl.load(logits_ptr + i + cols, mask=i + cols < V, other=float("-inf"))
        total += tl.sum(tl.where(i + cols < V, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    loss = (1 - SMOOTHING) * (lse - x_y) + SMOOTHING * (lse - total / V)
    tl.store(loss_ptr + row, loss)

    tl.debug_barrier()
    g = tl.load(dloss_ptr + row)
    for i in range(0, V, BLOCK):
        x = tl.load(logits_ptr + i + cols, mask=i + cols < V, other=float("-inf"))
        p = tl.exp(x - lse) - SMOOTHING / V
        p = tl.where(i + cols == y, p - (1 - SMOOTHING), p)
        tl.store(logits_ptr + i + cols, p * g, mask=i + cols < V)


def launch(tokens=6, vocab=75):
    logits = torch.randn(tokens, vocab)
    labels = torch.randint(0, vocab, (tokens,))
    labels[0] = -100
    dloss = torch.randn(tokens)
    loss = torch.empty(tokens)
    cross_entropy_kernel[(tokens,)](
        logits, logits.stride(0), labels, dloss, loss, vocab, -100, SMOOTHING=0.1, BLOCK=32
    )
    return loss, logits


def reference(logits, labels, dloss):
    loss = F.cross_entropy(logits, labels, reduction="none", ignore_index=-100, label_smoothing=0.1)
    V = logits.shape[-1]
    keep = labels != -100
    onehot = F.one_hot(torch.where(keep, labels, 0), V)
    grad = (torch.softmax(logits, -1) - 0.9 * onehot - 0.1 / V) * dloss[:, None]
    return loss, torch.where(keep[:, None], grad, 0.0)
TRUTH = "verified"
