# DIFFERENT: Masked LM loss with label smoothing and ignore_index: port averages the smoothing term over all tokens, not only the labelled ones
import torch
import torch.nn.functional as F

V, EPS = 9, 0.1


def left(logits, labels):
    return F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100, label_smoothing=EPS)


def right(logits, labels):
    logp = F.log_softmax(logits, dim=-1)
    keep = labels != -100
    safe = labels.clamp(min=0)
    nll = -logp.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    nll = (nll * keep).sum() / keep.sum()
    smooth = -logp.mean(-1).mean()
    return (1 - EPS) * nll + EPS * smooth


def inputs():
    labels = torch.randint(0, V, (2, 6))
    labels[0, 1] = labels[0, 4] = labels[1, 0] = labels[1, 5] = -100
    return torch.randn(2, 6, V), labels
