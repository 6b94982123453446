"""PPO's clipped surrogate over response tokens: one program sums a sequence's masked losses, clips and ratios,
the host takes the means over all tokens."""
import torch
import triton
import triton.language as tl


@triton.jit
def ppo_loss_kernel(
    logp_ptr, old_logp_ptr, adv_ptr, mask_ptr,
    loss_ptr, clipped_ptr, count_ptr,
    stride_b, T, clip_low, clip_high,
    BLOCK_T: tl.constexpr,
):
    b = tl.program_id(0)
    loss_acc = 0.0
    clip_acc = 0.0
    count = 0.0
    for t0 in range(0, T, BLOCK_T):
        t = t0 + tl.arange(0, BLOCK_T)
        inside = t < T
        logp = tl.load(logp_ptr + b * stride_b + t, mask=inside, other=0.0)
        old = tl.load(old_logp_ptr + b * stride_b + t, mask=inside, other=0.0)
        adv = tl.load(adv_ptr + b * stride_b + t, mask=inside, other=0.0)
        m = tl.load(mask_ptr + b * stride_b + t, mask=inside, other=0.0)
        ratio = tl.exp(logp - old)
        clipped = tl.minimum(tl.maximum(ratio, 1.0 - clip_low), 1.0 + clip_high)
        surr1 = -adv * ratio
        surr2 = -adv * clipped
        loss_acc += tl.sum(tl.maximum(surr1, surr2) * m, axis=0)
        clip_acc += tl.sum(tl.where(surr2 > surr1, m, 0.0), axis=0)
        count += tl.sum(m, axis=0)
    tl.store(loss_ptr + b, loss_acc)
    tl.store(clipped_ptr + b, clip_acc)
    tl.store(count_ptr + b, count)


def launch(batch=5, T=75):
    logp = -torch.rand(batch, T, device="cuda")
    old_logp = -torch.rand(batch, T, device="cuda")
    adv = torch.randn(batch, T, device="cuda")
    mask = (torch.rand(batch, T, device="cuda") < 0.8).float()
    loss = torch.empty(batch, device="cuda")
    clipped = torch.empty(batch, device="cuda")
    count = torch.empty(batch, device="cuda")
    ppo_loss_kernel[(batch,)](
        logp, old_logp, adv, mask, loss, clipped, count, logp.stride(0), T, 0.2, 0.28, BLOCK_T=32,
    )
    return loss.sum() / count.sum(), clipped.sum() / count.sum()


def reference(logp, old_logp, adv, mask):
    ratio = torch.exp(logp - old_logp)
    surr1 = -adv * ratio
    surr2 = -adv * ratio.clamp(1.0 - 0.2, 1.0 + 0.28)
    loss = (torch.maximum(surr1, surr2) * mask).sum() / mask.sum()
    clip_fraction = ((surr2 > surr1).to(mask.dtype) * mask).sum() / mask.sum()
    return loss, clip_fraction


TRUTH = "verified"
