"""grpo, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _grpo_loss_fwd_kernel(
    LOGITS,
    OLD_LOGP,
    REF_LOGP,
    INPUT_IDS,
    COMPLETION_MASK,
    ADVANTAGES,
    LOSS,
    KL,
    stride_lb,
    stride_lt,
    inv_temperature,
    beta,
    eps_low,
    eps_high,
    L,
    N,
    BLOCK_N: tl.constexpr,
):
    off_b = tl.program_id(0)
    off_l = tl.program_id(1)
    tok = off_b * L + off_l

    if tl.load(COMPLETION_MASK + tok) == 0:
        tl.store(LOSS + tok, 0.0)
        tl.store(KL + tok, 0.0)
        return

    LOGITS += off_b * stride_lb + off_l * stride_lt
    m_i = float("-inf")
    l_i = 0.0
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(LOGITS + cols, mask=cols < N, other=float("-inf")).to(tl.float32) * inv_temperature
        new_m = tl.maximum(m_i, tl.max(x, 0))
        l_i = l_i * tl.exp(m_i - new_m) + tl.sum(tl.exp(x - new_m), 0)
        m_i = new_m
    lse = m_i + tl.log(l_i)

    idx = tl.load(INPUT_IDS + tok)
    logp = tl.load(LOGITS + idx).to(tl.float32) * inv_temperature - lse
    ratio = tl.exp(logp - tl.load(OLD_LOGP + tok))
    clipped = tl.minimum(tl.maximum(ratio, 1 - eps_low), 1 + eps_high)
    adv = tl.load(ADVANTAGES + off_b).to(tl.float32)
    loss = -tl.minimum(ratio * adv, clipped * adv)

    delta = tl.load(REF_LOGP + tok) - logp
    kl = tl.exp(delta) - delta - 1
    tl.store(LOSS + tok, loss + beta * kl)
    tl.store(KL + tok, kl)


def grpo_loss(logits, old_logp, ref_logp, completion_ids, completion_mask, advantages):
    B, L_plus_1, N = logits.shape
    L = L_plus_1 - 1
    loss = torch.empty((B, L), dtype=torch.float32, device=logits.device)
    kl = torch.empty_like(loss)
    _grpo_loss_fwd_kernel[(B, L)](
        logits, old_logp, ref_logp, completion_ids, completion_mask, advantages, loss, kl,
        logits.stride(0), logits.stride(1), 1.0 / 0.8, 0.04, 0.2, 0.28, L, N, BLOCK_N=64,
    )
    return loss, kl


def launch(batch=3, length=5, vocab=100):
    logits = torch.randn(batch, length + 1, vocab, device="cuda")
    old_logp = torch.randn(batch, length, device="cuda")
    ref_logp = torch.randn(batch, length, device="cuda")
    completion_ids = torch.randint(0, vocab, (batch, length), device="cuda")
    completion_mask = torch.randint(0, 2, (batch, length), dtype=torch.int32, device="cuda")
    advantages = torch.randn(batch, device="cuda")
    return grpo_loss(logits, old_logp, ref_logp, completion_ids, completion_mask, advantages)


def reference(logits, old_logp, ref_logp, completion_ids, completion_mask, advantages):
    logp = (logits[:, :-1] * 1.25).log_softmax(-1)
    logp = logp.gather(-1, completion_ids.unsqueeze(-1)).squeeze(-1)
    ratio = torch.exp(logp - old_logp)
    adv = advantages.unsqueeze(1)
    loss = -torch.minimum(ratio * adv, ratio.clamp(0.8, 1.28) * adv)
    kl = torch.exp(ref_logp - logp) - (ref_logp - logp) - 1
    keep = completion_mask != 0
    return torch.where(keep, loss + 0.04 * kl, 0.0), torch.where(keep, kl, 0.0)


TRUTH = "verified"
