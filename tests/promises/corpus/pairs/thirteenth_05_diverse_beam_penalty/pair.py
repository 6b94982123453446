"""The Hamming diversity penalty of diverse beam search."""
import torch
import torch.nn.functional as F

PENALTY = 0.7


def left(scores, previous_tokens):
    # scores (batch, beams of this group, vocab); previous_tokens (batch, beams of the groups before)
    vocab = scores.shape[-1]
    out = scores.clone()
    for i in range(scores.shape[0]):
        frequency = torch.bincount(previous_tokens[i], minlength=vocab)
        out[i] -= PENALTY * frequency
    return out


def right(scores, previous_tokens):
    counts = F.one_hot(previous_tokens, scores.shape[-1]).sum(dim=1, keepdim=True)
    return scores - PENALTY * counts.to(scores.dtype)


inputs = (
    torch.log_softmax(torch.randn(3, 2, 10), -1),
    torch.tensor([[1, 4, 4, 9], [0, 2, 3, 5], [7, 7, 7, 1]]),
)
