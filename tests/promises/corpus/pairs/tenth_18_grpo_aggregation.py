# DIFFERENT
import torch


def grpo_terms(logps, old_logps, ref_logps, rewards, clip=0.2, beta=0.04):
    adv = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    adv = adv.flatten()[:, None]
    ratio = torch.exp(logps - old_logps)
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
    delta = ref_logps - logps
    kl = delta.exp() - delta - 1
    return -(surrogate - beta * kl)


def left(logps, old_logps, ref_logps, rewards, lengths):
    """GRPO as published: mean over the tokens of each answer, then over the answers."""
    per_token = grpo_terms(logps, old_logps, ref_logps, rewards)
    mask = (torch.arange(logps.shape[1]) < lengths[:, None]).to(logps.dtype)
    return ((per_token * mask).sum(1) / mask.sum(1)).mean()


def right(logps, old_logps, ref_logps, rewards, lengths):
    per_token = grpo_terms(logps, old_logps, ref_logps, rewards)
    mask = (torch.arange(logps.shape[1])[None] < lengths.unsqueeze(-1)).type_as(logps)
    return (per_token * mask).sum() / mask.sum()


def inputs():
    logps = -torch.rand(6, 5)
    return (logps, logps + 0.2 * torch.randn(6, 5), logps + 0.1 * torch.randn(6, 5),
            torch.randn(2, 3), torch.tensor([5, 2, 3, 1, 4, 2]))
