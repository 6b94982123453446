"""Cross-entropy and its spellings. Logits are [tokens, classes], targets [tokens]."""

import torch
from torch.nn import functional as F

from pairs.pair import Pair, inputs, integers, twins, vary

CLASSES, IGNORED = 11, 0


def cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets)


def by_log_softmax(logits, targets, axis=-1):
    return -logits.log_softmax(axis).gather(1, targets[:, None]).mean()


def by_log_softmax_summed(logits, targets):
    return -logits.log_softmax(-1).gather(1, targets[:, None]).sum()


def by_nll(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1), targets)


def by_nll_of_softmax(logits, targets):
    return F.nll_loss(F.softmax(logits, dim=-1), targets)


def by_logsumexp(logits, targets):
    picked = logits.gather(1, targets[:, None]).squeeze(1)
    return (torch.logsumexp(logits, -1) - picked).mean()


def by_logsumexp_of_next_target(logits, targets):
    picked = logits.gather(1, targets.roll(-1)[:, None]).squeeze(1)
    return (torch.logsumexp(logits, -1) - picked).mean()


def by_one_hot(logits, targets):
    chosen = F.one_hot(targets, CLASSES).to(logits.dtype)
    return -(chosen * logits.log_softmax(-1)).sum(-1).mean()


def by_one_hot_mean(logits, targets):
    chosen = F.one_hot(targets, CLASSES).to(logits.dtype)
    return -(chosen * logits.log_softmax(-1)).mean()


def per_token(logits, targets):
    return F.cross_entropy(logits, targets, reduction="none")


def per_token_by_index(logits, targets):
    shifted = logits - logits.amax(-1, keepdim=True)
    return shifted.exp().sum(-1).log() - shifted[torch.arange(len(targets)), targets]


def per_token_by_unshifted_index(logits, targets):
    shifted = logits - logits.amax(-1, keepdim=True)
    return shifted.exp().sum(-1).log() - logits[torch.arange(len(targets)), targets]


def smoothed(logits, targets):
    return F.cross_entropy(logits, targets, label_smoothing=0.1)


def smoothed_by_mixture(logits, targets, share=0.1):
    logarithms = logits.log_softmax(-1)
    picked = logarithms.gather(1, targets[:, None]).squeeze(1)
    return -((1 - share) * picked + share * logarithms.mean(-1)).mean()


def smoothed_by_sum(logits, targets):
    logarithms = logits.log_softmax(-1)
    picked = logarithms.gather(1, targets[:, None]).squeeze(1)
    return -(0.9 * picked + 0.1 * logarithms.sum(-1)).mean()


def with_ignored(logits, targets):
    return F.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="sum")


def with_ignored_by_mask(logits, targets, ignored=IGNORED):
    picked = logits.gather(1, targets[:, None]).squeeze(1)
    return torch.where(targets == ignored, 0.0, torch.logsumexp(logits, -1) - picked).sum()


LOGITS = inputs((7, CLASSES), integers(CLASSES, 7))
FEW = inputs((7, 3), integers(3, 7))

PAIRS = [
    Pair("cross-entropy by log softmax", 13, cross_entropy, by_log_softmax, LOGITS,
         twins(wrong_axis=vary(by_log_softmax, axis=0), sum_instead_of_mean=by_log_softmax_summed)),
    Pair("cross-entropy by negative log likelihood", 13, cross_entropy, by_nll, LOGITS,
         twins(softmax_without_logarithm=by_nll_of_softmax)),
    Pair("cross-entropy by logsumexp", 13, cross_entropy, by_logsumexp, LOGITS,
         twins(targets_shifted=by_logsumexp_of_next_target)),
    Pair("cross-entropy by one-hot targets", 13, cross_entropy, by_one_hot, LOGITS,
         twins(mean_over_classes_too=by_one_hot_mean)),
    Pair("cross-entropy of logsumexp and log softmax", 13, by_logsumexp, by_log_softmax, LOGITS,
         twins(wrong_axis=vary(by_log_softmax, axis=0))),
    Pair("cross-entropy of each token", 13, per_token, per_token_by_index, LOGITS,
         twins(target_not_shifted=per_token_by_unshifted_index)),
    Pair("cross-entropy with smoothed labels", 13, smoothed, smoothed_by_mixture, LOGITS,
         twins(share_off=vary(smoothed_by_mixture, share=0.11), sum_instead_of_mean=smoothed_by_sum)),
    Pair("cross-entropy with ignored targets", 13, with_ignored, with_ignored_by_mask, FEW,
         twins(another_index_ignored=vary(with_ignored_by_mask, ignored=1))),
]
