"""Clipped policy loss of each token with a penalty for leaving the reference policy, from logits in chunks."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def grpo_loss_kernel(
    LOGITS, OLD_LOGP, REF_LOGP, IDS, MASK, ADVANTAGES, LOSS, KL, IS_CLIPPED,
    TEMPERATURE, BETA: tl.constexpr, EPS_LOW, EPS_HIGH, L, N, BLOCK_N: tl.constexpr,
):
    b = tl.program_id(0).to(tl.int64)
    t = tl.program_id(1).to(tl.int64)
    at = b * L + t
    keep = tl.load(MASK + at)
    if keep == 0:
        return
    base = LOGITS + (b * (L + 1) + t) * N
    m = float("-inf")
    d = 0.0
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(base + cols, mask=cols < N, other=float("-inf")).to(tl.float32) / TEMPERATURE
        m_new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    token = tl.load(IDS + at)
    logp = tl.load(base + token).to(tl.float32) / TEMPERATURE - (m + tl.log(d))
    old = tl.load(OLD_LOGP + at)
    coef_1 = tl.exp(logp - old)
    coef_2 = tl.clamp(coef_1, 1.0 - EPS_HIGH, 1.0 + EPS_HIGH)
    advantage = tl.load(ADVANTAGES + b)
    loss = -tl.minimum(coef_1 * advantage, coef_2 * advantage)
    clipped = ((coef_1 < 1.0 - EPS_LOW) & (advantage < 0)) | ((coef_1 > 1.0 + EPS_HIGH) & (advantage > 0))
    if BETA != 0.0:
        ref = tl.load(REF_LOGP + at)
        kl = tl.exp(ref - logp) - (ref - logp) - 1.0
        loss += BETA * kl
        tl.store(KL + at, kl)
    tl.store(LOSS + at, loss)
    tl.store(IS_CLIPPED + at, clipped.to(tl.float32))


def launch():
    B, L, N = 4, 13, 140
    logits = torch.randn(B, L + 1, N)
    ids = torch.randint(0, N, (B, L))
    logp = torch.log_softmax(logits[:, :-1] / 0.9, dim=-1).gather(-1, ids[..., None]).squeeze(-1)
    old_logp = logp + 0.4 * torch.randn(B, L)
    ref_logp = logp + 0.2 * torch.randn(B, L)
    mask = (torch.rand(B, L) > 0.2).int()
    advantages = torch.tensor([1.0, -0.8, 0.3, -1.5])
    loss = torch.zeros(B, L)
    kl = torch.zeros(B, L)
    is_clipped = torch.zeros(B, L)
    grpo_loss_kernel[(B, L)](logits, old_logp, ref_logp, ids, mask, advantages, loss, kl, is_clipped, 0.9, 0.04, 0.2, 0.28, L, N, BLOCK_N=64)
    return loss, kl, is_clipped


def reference(logits, old_logp, ref_logp, ids, mask, advantages):
    logp = torch.log_softmax(logits[:, :-1] / 0.9, dim=-1).gather(-1, ids[..., None]).squeeze(-1)
    ratio = (logp - old_logp).exp()
    adv = advantages[:, None]
    loss = -torch.minimum(ratio * adv, ratio.clamp(0.8, 1.28) * adv)
    kl = (ref_logp - logp).exp() - (ref_logp - logp) - 1
    clipped = ((ratio < 0.8) & (adv < 0)) | ((ratio > 1.28) & (adv > 0))
    on = mask != 0
    zero = torch.zeros_like(kl)
    return torch.where(on, loss + 0.04 * kl, zero), torch.where(on, kl, zero), torch.where(on, clipped.float(), zero)
