"""GRPO token loss: clipped importance ratio times advantage, k3 KL penalty to a reference policy, masked mean over each completion, clip fraction."""
import torch
import triton
import triton.language as tl


@triton.jit
def grpo_loss_kernel(
    logp_ptr, old_logp_ptr, ref_logp_ptr, adv_ptr, mask_ptr, loss_ptr, clip_ptr,
    stride_row, T,
    eps_low: tl.constexpr, eps_high: tl.constexpr, beta: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    adv = tl.load(adv_ptr + row)
    base = row * stride_row
    loss_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    clip_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    count = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, T, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        inside = offs < T
        logp = tl.load(logp_ptr + base + offs, mask=inside, other=0.0)
        old = tl.load(old_logp_ptr + base + offs, mask=inside, other=0.0)
        ref = tl.load(ref_logp_ptr + base + offs, mask=inside, other=0.0)
        keep = tl.load(mask_ptr + base + offs, mask=inside, other=0).to(tl.float32)

        ratio = tl.exp(logp - old)
        clipped = tl.minimum(tl.maximum(ratio, 1.0 - eps_low), 1.0 + eps_high)
        policy = -tl.minimum(ratio * adv, clipped * adv)
        kl = tl.exp(ref - logp) - (ref - logp) - 1.0
        hit_low = tl.where(adv < 0.0, (ratio < 1.0 - eps_low).to(tl.float32), 0.0)
        hit_high = tl.where(adv > 0.0, (ratio > 1.0 + eps_high).to(tl.float32), 0.0)

        loss_sum += (policy + beta * kl) * keep
        clip_sum += (hit_low + hit_high) * keep
        count += keep
    n = tl.maximum(tl.sum(count, axis=0), 1.0)
    tl.store(loss_ptr + row, tl.sum(loss_sum, axis=0) / n)
    tl.store(clip_ptr + row, tl.sum(clip_sum, axis=0) / n)


def launch(B=5, T=70):
    logp = -torch.rand(B, T, device="cuda")
    old_logp = -torch.rand(B, T, device="cuda")
    ref_logp = -torch.rand(B, T, device="cuda")
    advantages = torch.randn(B, device="cuda")
    completion_mask = torch.randint(0, 2, (B, T), device="cuda", dtype=torch.int32)
    loss = torch.empty(B, device="cuda", dtype=torch.float32)
    clip_fraction = torch.empty(B, device="cuda", dtype=torch.float32)
    grpo_loss_kernel[(B,)](
        logp, old_logp, ref_logp, advantages, completion_mask, loss, clip_fraction,
        logp.stride(0), T,
        eps_low=0.2, eps_high=0.28, beta=0.04,
        BLOCK=32,
    )
    return loss.mean(), clip_fraction


def reference(logp, old_logp, ref_logp, advantages, completion_mask):
    adv = advantages[:, None]
    ratio = torch.exp(logp - old_logp)
    policy = -torch.minimum(ratio * adv, torch.clamp(ratio, 1 - 0.2, 1 + 0.28) * adv)
    kl = torch.exp(ref_logp - logp) - (ref_logp - logp) - 1
    is_clipped = ((ratio < 1 - 0.2) & (adv < 0)) | ((ratio > 1 + 0.28) & (adv > 0))
    mask = completion_mask.float()
    n = mask.sum(dim=1).clamp(min=1)
    loss = ((policy + 0.04 * kl) * mask).sum(dim=1) / n
    return loss.mean(), (is_clipped.float() * mask).sum(dim=1) / n

TRUTH = "verified"
