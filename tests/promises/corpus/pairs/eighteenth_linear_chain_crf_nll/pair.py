import torch
from torch.nn import functional as F


def forward_algorithm(emissions, tags, transitions, start, end):
    """pytorch-crf: path score along the tags, partition from the front."""
    length = emissions.shape[1]
    rows = torch.arange(emissions.shape[0])
    score = start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
    for t in range(1, length):
        score = score + transitions[tags[:, t - 1], tags[:, t]] + emissions[rows, t, tags[:, t]]
    score = score + end[tags[:, -1]]

    alpha = start + emissions[:, 0]
    for t in range(1, length):
        alpha = torch.logsumexp(alpha.unsqueeze(2) + transitions + emissions[:, t].unsqueeze(1), dim=1)
    partition = torch.logsumexp(alpha + end, dim=1)
    return (partition - score).mean()


def backward_algorithm(emissions, tags, transitions, start, end):
    """Partition from the back; the path's score by one-hot contractions."""
    y = F.one_hot(tags, emissions.shape[2]).to(emissions.dtype)
    unary = torch.einsum("btk,btk->b", y, emissions)
    binary = torch.einsum("bti,ij,btj->b", y[:, :-1], transitions, y[:, 1:])
    edges = y[:, 0] @ start + y[:, -1] @ end

    beta = end.expand(emissions.shape[0], -1)
    for t in reversed(range(1, emissions.shape[1])):
        ahead = (emissions[:, t] + beta)[:, None, :]
        beta = torch.logsumexp(transitions[None] + ahead, dim=2)
    log_z = torch.logsumexp(start + emissions[:, 0] + beta, dim=1)
    return log_z.mean() - (unary + binary + edges).mean()


def example(B=3, T=4, K=5):
    return torch.randn(B, T, K), torch.randint(0, K, (B, T)), torch.randn(K, K), torch.randn(K), torch.randn(K)


def inputs():
    return example()
