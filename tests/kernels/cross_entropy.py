"""Cross-entropy of each row: logarithm of the sum of exponentials, over column blocks, minus the label's logit."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, row_stride, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    largest = -float("inf")
    total = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * row_stride + cols, mask=cols < V, other=-float("inf"))
        now = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - now) + tl.sum(tl.exp(x - now), axis=0)
        largest = now
    picked = tl.load(logits_ptr + row * row_stride + label)
    tl.store(loss_ptr + row, tl.log(total) + largest - picked)


def launch(M=7, V=100):
    logits = torch.randn(M, V, device="cuda")
    labels = torch.randint(0, V, (M,), device="cuda")
    loss = torch.empty(M, device="cuda")
    cross_entropy_kernel[(M,)](logits, labels, loss, logits.stride(0), V, BLOCK=32)
    return loss


def reference(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none")


BROKEN = {
    "missing_rescale": ("total * tl.exp(largest - now) +", "total +", "value", "value"),
    "maximum_forgotten": ("tl.log(total) + largest - picked", "tl.log(total) - picked", "value", "value"),
    "missing_other": ('mask=cols < V, other=-float("inf")', "mask=cols < V", "undefined", "value"),
    "unmasked_load": ('+ cols, mask=cols < V, other=-float("inf")', "+ cols", "bounds", "fault"),
    "wrong_stride": ("row * row_stride + label", "row + label", "value", "value"),
}
