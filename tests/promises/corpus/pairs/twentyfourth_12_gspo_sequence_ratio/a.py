"""GSPO (Qwen): one importance ratio per sequence, the geometric mean of the tokens' ratios."""
import torch
from torch.nn import functional as F


def token_logps(logits, ids):
    return F.log_softmax(logits, dim=-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


def gspo_loss(logits, old_logits, ids, mask, rewards):
    """logits [G, T, V], one group of G answers to a prompt."""
    log_ratio = token_logps(logits, ids) - token_logps(old_logits, ids)
    lengths = mask.sum(-1).clamp(min=1)
    seq_log_ratio = (log_ratio * mask).sum(-1) / lengths
    ratio = torch.exp(seq_log_ratio)
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    unclipped = ratio * advantages
    clipped = torch.clamp(ratio, 1 - 3e-2, 1 + 4e-2) * advantages
    loss = -torch.min(unclipped, clipped).mean()
    clip_fraction = ((ratio < 1 - 3e-2) | (ratio > 1 + 4e-2)).to(loss.dtype).mean()
    return loss, clip_fraction


def inputs():
    logits = torch.randn(4, 6, 9)
    old = logits + 0.15 * torch.randn(4, 6, 9)
    ids = torch.randint(0, 9, (4, 6))
    mask = torch.arange(6)[None] < torch.tensor([6, 4, 5, 3])[:, None]
    return logits, old, ids, mask, torch.randn(4)
