"""DPO with label smoothing: separate passes as in TRL, and one concatenated batch."""
import torch
from torch.nn import functional as F

BETA, SMOOTH = 0.1, 0.05
B, T, VOCAB = 3, 6, 12


def get_batch_logps(logits, labels):
    labels = labels[:, 1:].clone()
    logits = logits[:, :-1, :]
    loss_mask = labels != -100
    labels[labels == -100] = 0
    per_token = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token * loss_mask).sum(-1)


def left(policy_chosen, policy_rejected, ref_chosen, ref_rejected, chosen_labels, rejected_labels):
    pc, pr = get_batch_logps(policy_chosen, chosen_labels), get_batch_logps(policy_rejected, rejected_labels)
    rc, rr = get_batch_logps(ref_chosen, chosen_labels), get_batch_logps(ref_rejected, rejected_labels)
    logits = (pc - pr) - (rc - rr)
    losses = -F.logsigmoid(BETA * logits) * (1 - SMOOTH) - F.logsigmoid(-BETA * logits) * SMOOTH
    chosen_rewards = BETA * (pc - rc)
    rejected_rewards = BETA * (pr - rr)
    return losses.mean(), chosen_rewards, rejected_rewards


def right(policy_chosen, policy_rejected, ref_chosen, ref_rejected, chosen_labels, rejected_labels):
    n = policy_chosen.shape[0]
    labels = torch.cat([chosen_labels, rejected_labels])[:, 1:]

    def logps(chosen, rejected):
        logits = torch.cat([chosen, rejected])[:, :-1]
        return -F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100, reduction="none").sum(-1)

    rewards = BETA * (logps(policy_chosen, policy_rejected) - logps(ref_chosen, ref_rejected))
    chosen, rejected = rewards[:n], rewards[n:]
    margin = chosen - rejected
    # -logsigmoid(m) = softplus(m) - m, so smoothing is one multiplication
    loss = (F.softplus(margin) - (1 - SMOOTH) * margin).mean()
    return loss, chosen.clone(), rejected.clone()


def inputs():
    logits = [torch.randn(B, T, VOCAB) for _ in range(4)]
    labels = [torch.randint(0, VOCAB, (B, T)) for _ in range(2)]
    labels[0][:, :2] = -100
    labels[1][:, :2] = -100
    labels[1][1, -1] = -100
    return *logits, *labels
