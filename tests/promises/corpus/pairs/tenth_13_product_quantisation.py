# EQUAL
import torch


def left(query, codebooks, codes):
    """Distances from a query to PQ-coded vectors, by decoding them. codebooks [M, K, d], codes [N, M]."""
    M, K, d = codebooks.shape
    parts = []
    for m in range(M):
        parts.append(codebooks[m][codes[:, m]])
    decoded = torch.cat(parts, dim=1)                      # [N, M*d]
    return ((query[:, None, :] - decoded[None]) ** 2).sum(-1)


def right(query, codebooks, codes):
    """Asymmetric distance computation: one table per query, N*M look-ups."""
    M, K, d = codebooks.shape
    q = query.view(query.shape[0], M, 1, d)
    table = (q - codebooks).square().sum(-1)               # [Q, M, K]
    idx = codes.t().unsqueeze(0).expand(query.shape[0], -1, -1)
    return table.gather(2, idx).sum(1)


def inputs():
    return torch.randn(2, 12), torch.randn(4, 5, 3), torch.randint(0, 5, (7, 4))
