"""The GRPO loss: as in TRL, and in our trainer."""
import torch

G, CLIP, BETA = 4, 0.2, 0.04
PROMPTS, T = 3, 5


def left(logps, old_logps, ref_logps, rewards, completion_mask):
    mean_grouped = rewards.view(-1, G).mean(dim=1)
    std_grouped = rewards.view(-1, G).std(dim=1)
    mean_grouped = mean_grouped.repeat_interleave(G, dim=0)
    std_grouped = std_grouped.repeat_interleave(G, dim=0)
    advantages = (rewards - mean_grouped) / (std_grouped + 1e-4)

    per_token_kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
    coef_1 = torch.exp(logps - old_logps)
    coef_2 = torch.clamp(coef_1, 1 - CLIP, 1 + CLIP)
    per_token_loss = -torch.min(coef_1 * advantages.unsqueeze(1), coef_2 * advantages.unsqueeze(1)) + BETA * per_token_kl
    mask = completion_mask.to(logps.dtype)
    return ((per_token_loss * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).mean()


def right(logps, old_logps, ref_logps, rewards, completion_mask):
    grouped = rewards.unflatten(0, (-1, G))
    std, mean = torch.std_mean(grouped, dim=-1)
    adv = ((rewards - mean.repeat(G)) / (std.repeat(G) + 1e-4))[:, None]

    delta = ref_logps - logps
    kl = torch.expm1(delta) - delta
    ratio = (logps - old_logps).exp()
    loss = BETA * kl - torch.minimum(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv)
    lengths = completion_mask.sum(-1).clamp(min=1)
    return (loss.masked_fill(~completion_mask, 0.0).sum(-1) / lengths).mean()


def inputs():
    n = PROMPTS * G
    old = -torch.rand(n, T) - 0.1
    mask = torch.arange(T)[None] < torch.randint(1, T + 1, (n, 1))
    return old + 0.1 * torch.randn(n, T), old, old + 0.1 * torch.randn(n, T), torch.randn(n), mask
