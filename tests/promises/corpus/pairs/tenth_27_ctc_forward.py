# EQUAL
# CTC negative log-likelihood of the transcript "2 1 1" for a batch of utterances: the alpha recursion in log space,
# and a product of probabilities with a transition matrix
import torch

BLANK, LABELS = 0, (2, 1, 1)
EXT = [BLANK]
for _l in LABELS:
    EXT += [_l, BLANK]


def left(logits):
    """logits [T, B, V]"""
    logp = logits.log_softmax(-1)
    T, B, _ = logp.shape
    S = len(EXT)
    ninf = logp.new_full((B,), float("-inf"))
    alpha = [logp[0, :, EXT[0]], logp[0, :, EXT[1]]] + [ninf] * (S - 2)
    for t in range(1, T):
        new = []
        for s in range(S):
            terms = [alpha[s]]
            if s >= 1:
                terms.append(alpha[s - 1])
            if s >= 2 and EXT[s] != BLANK and EXT[s] != EXT[s - 2]:
                terms.append(alpha[s - 2])
            acc = terms[0]
            for other in terms[1:]:
                acc = torch.logaddexp(acc, other)
            new.append(acc + logp[t, :, EXT[s]])
        alpha = new
    return -torch.logaddexp(alpha[-1], alpha[-2])


def transition_matrix():
    S = len(EXT)
    A = torch.zeros(S, S)
    for s in range(S):
        A[s, s] = 1
        if s + 1 < S:
            A[s, s + 1] = 1
        if s + 2 < S and EXT[s + 2] != BLANK and EXT[s + 2] != EXT[s]:
            A[s, s + 2] = 1
    return A


def right(logits):
    probs = torch.softmax(logits, dim=2)
    emissions = probs[:, :, EXT]                     # [T, B, S]
    A = transition_matrix().to(probs.dtype)
    start = torch.zeros(len(EXT), dtype=probs.dtype)
    start[:2] = 1
    alpha = emissions[0] * start
    for e in emissions[1:]:
        alpha = (alpha @ A) * e
    return -(alpha[:, -1] + alpha[:, -2]).log()


def inputs():
    return (torch.randn(6, 2, 4),)
