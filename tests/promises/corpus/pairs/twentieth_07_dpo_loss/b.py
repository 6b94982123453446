"""The same by cross entropy, with the pairs split first, and the loss by softplus."""
import torch
from torch.nn import functional as F

BETA, SMOOTHING, IGNORE = 0.1, 0.1, -100


def nll(logits, labels):
    flat = F.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1), ignore_index=IGNORE, reduction="none"
    )
    return flat.view(labels.shape[0], -1).sum(1)


def paired(policy_logits, reference_logits, labels):
    losses = []
    for part, labels_of in enumerate(labels.chunk(2)):
        policy = policy_logits.chunk(2)[part]
        reference = reference_logits.chunk(2)[part]
        losses.append(nll(reference, labels_of) - nll(policy, labels_of))
    chosen_rewards, rejected_rewards = (BETA * ratio for ratio in losses)
    margin = chosen_rewards - rejected_rewards
    loss = F.softplus(-margin) + SMOOTHING * margin
    accuracy = (margin > 0).to(loss.dtype).sum() / margin.numel()
    return loss.sum() / margin.numel(), chosen_rewards, rejected_rewards, accuracy
