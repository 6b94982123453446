# broken: lanes past the end load 0 and add log 2 each to the loss; wrong where n is no multiple of 64
import torch
import triton
import triton.language as tl


# attorch-like binary cross-entropy of logits, the mean of all, summed up atomically
@triton.jit
def bce_logits(x_ptr, y_ptr, loss_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    each = tl.maximum(x, 0.0) - x * y + tl.log(1.0 + tl.exp(-tl.abs(x)))
    tl.atomic_add(loss_ptr, tl.sum(each, axis=0) / n)


def launch(n=192):
    x = torch.randn(n, device="cuda")
    y = torch.rand(n, device="cuda")
    loss = torch.zeros(1, device="cuda")
    bce_logits[(triton.cdiv(n, 64),)](x, y, loss, n, BLOCK=64)
    return loss


def reference(x, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(x, y)[None]


TRUTH = "broken"
