"""Soft Dice loss of binary segmentation masks from logits, one program for each sample."""
import torch
import triton
import triton.language as tl


@triton.jit
def dice_loss_kernel(logit_ptr, target_ptr, loss_ptr, n_pixels, smooth, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    logit_ptr += sample * n_pixels
    target_ptr += sample * n_pixels
    inter = tl.zeros([BLOCK], dtype=tl.float32)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_pixels, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n_pixels
        p = tl.sigmoid(tl.load(logit_ptr + offs, mask=mask, other=float("-inf")))
        t = tl.load(target_ptr + offs, mask=mask, other=0.0)
        inter += p * t
        total += p + t
    dice = 2.0 * tl.sum(inter, axis=0) / (tl.sum(total, axis=0) + smooth)
    tl.store(loss_ptr + sample, 1.0 - dice)


def launch(n=5, h=5, w=13):
    logits = torch.randn(n, h, w, device="cuda")
    target = (torch.rand(n, h, w, device="cuda") < 0.4).float()
    loss = torch.empty(n, device="cuda")
    dice_loss_kernel[(n,)](logits, target, loss, h * w, 1.0, BLOCK=64)
    return loss.mean()


def reference(logits, target):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    inter = (p * t).sum(1)
    dice = (2.0 * inter + 1.0) / (p.sum(1) + t.sum(1) + 1.0)
    return (1.0 - dice).mean()


TRUTH = "broken"
# WHY: the smoothing constant is added to the denominator alone, where numerator and denominator should have it.
