"""TRL's way (mask, gather, logsigmoid) against a reviewer's shorter one."""
import torch
from torch.nn import functional as F

BETA = 0.25


def sequence_logps(logits, labels):
    labels = labels[:, 1:]
    keep = labels != -100
    safe = labels.masked_fill(~keep, 0)
    logps = logits[:, :-1].log_softmax(-1).gather(2, safe.unsqueeze(2)).squeeze(2)
    return (logps * keep).sum(-1)


def left(policy, reference, labels):
    p = sequence_logps(policy, labels).view(2, -1)
    r = sequence_logps(reference, labels).view(2, -1)
    chosen_reward = BETA * (p[0] - r[0])
    rejected_reward = BETA * (p[1] - r[1])
    loss = -F.logsigmoid(chosen_reward - rejected_reward).mean()
    return {"loss": loss, "margin": (chosen_reward - rejected_reward).mean()}


def right(policy, reference, labels):
    target = labels[:, 1:].reshape(-1)

    def nll(logits):
        flat = logits[:, :-1].reshape(-1, logits.shape[-1])
        return F.cross_entropy(flat, target, ignore_index=-100, reduction="none").view(labels.shape[0], -1).sum(1)

    gain = (nll(reference) - nll(policy)).view(2, -1)
    margin = BETA * (gain[0] - gain[1])
    return {"loss": F.softplus(-margin).mean(), "margin": margin.mean()}


def inputs():
    labels = torch.randint(0, 11, (6, 7))
    labels[0, :3] = -100
    labels[1, :2] = -100
    labels[4, 5:] = -100
    return torch.randn(6, 7, 11), torch.randn(6, 7, 11), labels
