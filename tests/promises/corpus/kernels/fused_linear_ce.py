"""Cross-entropy with label smoothing over chunks of the vocabulary, as liger-kernel writes it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def ce_kernel(x_ptr, t_ptr, loss_ptr, V, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y = tl.load(t_ptr + row)
    m = float("-inf")
    d = 0.0
    total = 0.0
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * V + i, mask=i < V, other=float("-inf"))
        total += tl.sum(tl.where(i < V, x, 0.0), axis=0)
        new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(x - new), axis=0)
        m = new
    lse = m + tl.log(d)
    xy = tl.load(x_ptr + row * V + y)
    tl.store(loss_ptr + row, (1 - smoothing) * (lse - xy) + smoothing * (lse - total / V))


def launch(R=6, V=70, smoothing=0.1):
    logits = torch.randn(R, V, device="cuda")
    target = torch.randint(0, V, (R,), device="cuda")
    loss = torch.empty(R, device="cuda")
    ce_kernel[(R,)](logits, target, loss, V, smoothing, BLOCK=32)
    return loss


def reference(logits, target, smoothing=0.1):
    return torch.nn.functional.cross_entropy(logits, target, reduction="none", label_smoothing=smoothing)
