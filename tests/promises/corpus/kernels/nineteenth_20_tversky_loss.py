"""Tversky loss of binary segmentation; true positives and false positives are accumulated over the tiles of an image, of the false negatives only the last tile is kept."""
import torch
import triton
import triton.language as tl


@triton.jit
def tversky_fwd(logit_ptr, target_ptr, loss_ptr, n_pixels, alpha, beta, smooth, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    logit_ptr += sample * n_pixels
    target_ptr += sample * n_pixels
    tp = 0.0
    fp = 0.0
    fn = 0.0
    for off in range(0, n_pixels, BLOCK):
        idx = off + tl.arange(0, BLOCK)
        mask = idx < n_pixels
        p = tl.sigmoid(tl.load(logit_ptr + idx, mask=mask, other=0.0).to(tl.float32))
        p = tl.where(mask, p, 0.0)
        t = tl.load(target_ptr + idx, mask=mask, other=0.0).to(tl.float32)
        tp += tl.sum(p * t)
        fp += tl.sum(p * (1.0 - t))
        fn = tl.sum((1.0 - p) * t)
    index = (tp + smooth) / (tp + alpha * fp + beta * fn + smooth)
    tl.store(loss_ptr + sample, 1.0 - index)


class TverskyLoss(torch.nn.Module):
    def __init__(self, alpha, beta, smooth=1.0):
        super().__init__()
        self.alpha, self.beta, self.smooth = alpha, beta, smooth

    def forward(self, logits, target):
        n = logits.shape[0]
        loss = torch.empty(n, device=logits.device)
        pixels = logits.numel() // n
        tversky_fwd[(n,)](logits, target, loss, pixels, self.alpha, self.beta, self.smooth, BLOCK=64)
        return loss.mean()


def launch(N=3, H=12, W=15):
    logits = torch.randn(N, H, W, device="cuda")
    target = torch.randint(0, 2, (N, H, W), device="cuda", dtype=torch.int32)
    return TverskyLoss(alpha=0.25, beta=0.75)(logits, target)


def reference(logits, target):
    p = logits.sigmoid().flatten(1)
    t = target.flatten(1).float()
    tp = (p * t).sum(1)
    fp = (p * (1 - t)).sum(1)
    fn = ((1 - p) * t).sum(1)
    return (1 - (tp + 1.0) / (tp + 0.25 * fp + 0.75 * fn + 1.0)).mean()

TRUTH = "broken"
