"""Cross-entropy over a large vocabulary, forward and backward; rows labelled -100 are left out."""

import torch
import triton
import triton.language as tl

import torch.nn.functional as F

IGNORE = -100


@triton.jit
def ce_forward_kernel(
    logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, stride, IGNORE: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    logits_ptr += row * stride
    label = tl.load(labels_ptr + row)
    m = -float("inf")
    d = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < V, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    lse = m + tl.log(d)
    tl.store(lse_ptr + row, lse)
    if label == IGNORE:
        tl.store(loss_ptr + row, 0.0)
    else:
        tl.store(loss_ptr + row, lse - tl.load(logits_ptr + label))


@triton.jit
def ce_backward_kernel(
    logits_ptr, labels_ptr, lse_ptr, dloss_ptr, dlogits_ptr, V, stride, IGNORE: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + row)
    dloss = tl.load(dloss_ptr + row)
    dloss = tl.where(label == IGNORE, 0.0, dloss)
    x = tl.load(logits_ptr + row * stride + cols, mask=cols < V, other=-float("inf"))
    p = tl.exp(x - tl.load(lse_ptr + row))
    grad = dloss * tl.where(cols == label, p - 1.0, p)
    tl.store(dlogits_ptr + row * stride + cols, grad, mask=cols < V)


def launch(M=6, V=150):
    logits = torch.randn(M, V, device="cuda")
    labels = torch.randint(0, V, (M,), device="cuda")
    labels[1] = IGNORE
    dloss = torch.randn(M, device="cuda")
    loss = torch.empty(M, device="cuda")
    lse = torch.empty(M, device="cuda")
    dlogits = torch.empty_like(logits)
    ce_forward_kernel[(M,)](logits, labels, loss, lse, V, logits.stride(0), IGNORE=IGNORE, BLOCK=64)
    ce_backward_kernel[(M, triton.cdiv(V, 64))](
        logits, labels, lse, dloss, dlogits, V, logits.stride(0), IGNORE=IGNORE, BLOCK=64
    )
    return loss, dlogits


def reference(logits, labels, dloss):
    loss = F.cross_entropy(logits, labels, reduction="none", ignore_index=IGNORE)
    live = labels != IGNORE
    onehot = torch.arange(logits.shape[1], device=logits.device)[None, :] == labels[:, None]
    dlogits = (torch.softmax(logits, dim=-1) - onehot.to(logits.dtype)) * (dloss * live)[:, None]
    return loss, dlogits


TRUTH = "verified"
