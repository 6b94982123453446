"""SimPO: a preference loss on mean log probabilities, with a target margin."""
import torch
import torch.nn.functional as F

BETA = 2.0
GAMMA = 0.5


def left(chosen_logits, chosen_labels, rejected_logits, rejected_labels):
    def average_log_prob(logits, labels):
        logits, labels = logits[:, :-1], labels[:, 1:]
        mask = labels != -100
        labels = labels.masked_fill(~mask, 0)
        logps = torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2)
        return (logps * mask).sum(-1) / mask.sum(-1)

    chosen = BETA * average_log_prob(chosen_logits, chosen_labels)
    rejected = BETA * average_log_prob(rejected_logits, rejected_labels)
    return -F.logsigmoid(chosen - rejected - GAMMA).mean()


def right(chosen_logits, chosen_labels, rejected_logits, rejected_labels):
    def mean_logp(logits, labels):
        labels = labels[:, 1:]
        nll = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels, ignore_index=-100, reduction="none")
        return -nll.sum(-1) / (labels != -100).sum(-1)

    margin = mean_logp(chosen_logits, chosen_labels) - mean_logp(rejected_logits, rejected_labels)
    return F.softplus(-BETA * (margin - GAMMA)).mean()


def inputs():
    chosen = torch.tensor([[-100, -100, 3, 5, 1], [-100, 2, 6, -100, -100]])
    rejected = torch.tensor([[-100, -100, 4, 0, 7], [-100, 2, 2, 1, -100]])
    return torch.randn(2, 5, 8), chosen, torch.randn(2, 5, 8), rejected
