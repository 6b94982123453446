import torch
import triton
import triton.language as tl


@triton.jit
def grpo_kernel(new_ptr, old_ptr, ref_ptr, adv_ptr, mask_ptr, loss_ptr, T, low, high, beta, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    adv = tl.load(adv_ptr + b)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    count = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        inside = t < T
        new = tl.load(new_ptr + b * T + t, mask=inside, other=0.0)
        old = tl.load(old_ptr + b * T + t, mask=inside, other=0.0)
        ref = tl.load(ref_ptr + b * T + t, mask=inside, other=0.0)
        keep = tl.load(mask_ptr + b * T + t, mask=inside, other=0.0)
        ratio = tl.exp(new - old)
        clipped = tl.minimum(tl.maximum(ratio, 1.0 - low), 1.0 + high)
        loss = -tl.minimum(ratio * adv, clipped * adv)
        d = ref - new
        loss += beta * (tl.exp(d) - d - 1.0)
        total += loss * keep
        count += keep
    tl.store(loss_ptr + b, tl.sum(total, axis=0) / tl.maximum(tl.sum(count, axis=0), 1.0))


def launch(B=4, T=50):
    logp = -torch.rand(B, T, device="cuda")
    old_logp = -torch.rand(B, T, device="cuda")
    ref_logp = -torch.rand(B, T, device="cuda")
    advantage = torch.randn(B, device="cuda")
    mask = (torch.rand(B, T, device="cuda") > 0.3).float()
    loss = torch.empty(B, device="cuda")
    grpo_kernel[(B,)](logp, old_logp, ref_logp, advantage, mask, loss, T, 0.2, 0.25, 0.04, BLOCK=32)
    return loss


def reference(logp, old_logp, ref_logp, advantage, mask):
    ratio = torch.exp(logp - old_logp)
    adv = advantage[:, None]
    loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.25) * adv)
    d = ref_logp - logp
    loss = loss + 0.04 * (torch.exp(d) - d - 1)
    return (loss * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)


TRUTH = "verified"
