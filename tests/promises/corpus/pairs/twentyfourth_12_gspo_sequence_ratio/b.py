"""GSPO on top of a GRPO trainer: the tokens' ratios are there already and get averaged per answer."""
import torch


def selective_log_softmax(logits, index):
    picked = torch.gather(logits, dim=-1, index=index[..., None])[..., 0]
    return picked - torch.logsumexp(logits, dim=-1)


def masked_mean(values, mask):
    return torch.where(mask, values, 0.0).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


class SequencePolicyLoss:
    low, high = 0.03, 0.04

    def __call__(self, logits, old_logits, ids, mask, rewards):
        new, old = selective_log_softmax(logits, ids), selective_log_softmax(old_logits, ids)
        coef = masked_mean((new - old).exp(), mask)
        centred = rewards - rewards.mean()
        advantage = centred / (centred.square().sum().div(len(rewards) - 1).sqrt() + 1e-4)
        coef_clipped = coef.clamp(1 - self.low, 1 + self.high)
        objective = torch.minimum(coef * advantage, coef_clipped * advantage)
        outside = torch.logical_or(coef < 1 - self.low, coef > 1 + self.high)
        return -objective.mean(), outside.to(objective.dtype).mean()
