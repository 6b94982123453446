# EQUAL.
"""Cross entropy with label smoothing and ignore_index, HF LabelSmoother style vs F.cross_entropy. EQUAL where at least one
label counts."""
import torch
import torch.nn.functional as F

EPS = 0.1


def left(logits, labels):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1), ignore_index=-100, label_smoothing=EPS)


def right(logits, labels):
    log_probs = -F.log_softmax(logits, dim=-1)
    labels = labels.unsqueeze(-1)
    padding_mask = labels.eq(-100)
    labels = torch.clamp(labels, min=0)
    nll_loss = log_probs.gather(dim=-1, index=labels)
    smoothed_loss = log_probs.sum(dim=-1, keepdim=True)
    nll_loss = nll_loss.masked_fill(padding_mask, 0.0)
    smoothed_loss = smoothed_loss.masked_fill(padding_mask, 0.0)
    num_active = padding_mask.numel() - padding_mask.long().sum()
    nll_loss = nll_loss.sum() / num_active
    smoothed_loss = smoothed_loss.sum() / (num_active * log_probs.shape[-1])
    return (1 - EPS) * nll_loss + EPS * smoothed_loss


def inputs():
    y = torch.randint(0, 9, (3, 5))
    y[0, 3:] = -100
    y[2, 4] = -100
    return torch.randn(3, 5, 9), y
