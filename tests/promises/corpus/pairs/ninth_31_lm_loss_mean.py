# DIFFERENT
import torch
import torch.nn.functional as F


def left(logits, labels):
    shift_logits = logits[:, :-1].reshape(-1, logits.shape[-1])
    shift_labels = labels[:, 1:].reshape(-1)
    return F.cross_entropy(shift_logits, shift_labels, ignore_index=-100)


def right(logits, labels):
    per_token = F.cross_entropy(
        logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none"
    )
    return per_token.mean()


def inputs():
    torch.manual_seed(1)
    labels = torch.randint(0, 11, (3, 7))
    labels[0, :3] = -100
    labels[2, 5:] = -100
    return torch.randn(3, 7, 11), labels
