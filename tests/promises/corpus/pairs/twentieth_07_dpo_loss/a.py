"""DPO loss over concatenated chosen and rejected sequences, as TRL writes it."""
import torch
from torch.nn import functional as F

BETA, SMOOTHING, IGNORE = 0.1, 0.1, -100


def sequence_logps(logits, labels):
    labels = labels[:, 1:].clone()
    logits = logits[:, :-1]
    mask = labels != IGNORE
    labels[labels == IGNORE] = 0
    per_token = torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2)
    return (per_token * mask).sum(-1)


def concatenated(policy_logits, reference_logits, labels):
    policy = sequence_logps(policy_logits, labels)
    reference = sequence_logps(reference_logits, labels)
    half = labels.shape[0] // 2
    chosen, rejected = policy[:half], policy[half:]
    ref_chosen, ref_rejected = reference[:half], reference[half:]
    h = (chosen - rejected) - (ref_chosen - ref_rejected)
    losses = -F.logsigmoid(BETA * h) * (1 - SMOOTHING) - F.logsigmoid(-BETA * h) * SMOOTHING
    chosen_rewards = BETA * (chosen - ref_chosen)
    rejected_rewards = BETA * (rejected - ref_rejected)
    accuracy = (chosen_rewards > rejected_rewards).to(losses.dtype).mean()
    return losses.mean(), chosen_rewards, rejected_rewards, accuracy


def inputs():
    labels = torch.randint(0, 9, (4, 6))
    labels[:, :2] = IGNORE
    labels[1, 5] = IGNORE
    return torch.randn(4, 6, 9), torch.randn(4, 6, 9), labels
