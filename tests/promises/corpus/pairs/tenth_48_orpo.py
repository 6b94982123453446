# EQUAL
# ORPO: likelihood of the chosen answer plus the log odds ratio to the rejected one
import torch
import torch.nn.functional as F


def average_logp(logits, labels):
    """Mean log-probability of the labels that are not -100."""
    logits, labels = logits[:, :-1], labels[:, 1:]
    keep = labels != -100
    logp = logits.log_softmax(-1).gather(2, labels.masked_fill(~keep, 0).unsqueeze(2)).squeeze(2)
    return (logp * keep).sum(-1) / keep.sum(-1)


def left(chosen_logits, rejected_logits, chosen, rejected, beta=0.1):
    c, r = average_logp(chosen_logits, chosen), average_logp(rejected_logits, rejected)
    log_odds = (c - r) - (torch.log1p(-torch.exp(c)) - torch.log1p(-torch.exp(r)))
    ratio = F.logsigmoid(log_odds)
    nll = F.cross_entropy(chosen_logits[:, :-1].reshape(-1, chosen_logits.size(-1)), chosen[:, 1:].reshape(-1))
    return nll - beta * ratio.mean()


def right(chosen_logits, rejected_logits, chosen, rejected, beta=0.1):
    both = torch.cat([chosen_logits, rejected_logits])[:, :-1]
    labels = torch.cat([chosen, rejected])[:, 1:]
    valid = labels.ge(0)
    token_loss = F.cross_entropy(both.transpose(1, 2), labels, reduction="none", ignore_index=-100)
    c, r = (-token_loss.sum(1) / valid.sum(1)).chunk(2)
    pc, pr = c.exp(), r.exp()
    odds_ratio = (pc / (1 - pc)) / (pr / (1 - pr))
    penalty = torch.log1p(1 / odds_ratio)                     # -log sigmoid(log OR)
    n = chosen.size(0)
    return token_loss[:n].sum() / valid[:n].sum() + beta * penalty.mean()


def inputs():
    chosen, rejected = torch.randint(0, 7, (3, 6)), torch.randint(0, 7, (3, 6))
    chosen[:, :2] = -100
    rejected[:, :2] = -100
    chosen[1, 5:] = -100
    return torch.randn(3, 6, 7), torch.randn(3, 6, 7), chosen, rejected
