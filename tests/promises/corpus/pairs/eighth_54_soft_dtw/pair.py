"""Soft-DTW discrepancy between two multivariate series."""
import torch

GAMMA = 0.5


def softmin(values):
    z = torch.stack(values) / -GAMMA
    return -GAMMA * torch.logsumexp(z, 0)


def left(x, y):
    n, m = x.shape[1], y.shape[1]
    D = (x.unsqueeze(2) - y.unsqueeze(1)).pow(2).sum(-1)
    R = [[None] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            prev = []
            if i and j:
                prev.append(R[i - 1][j - 1])
            if i:
                prev.append(R[i - 1][j])
            if j:
                prev.append(R[i][j - 1])
            R[i][j] = D[:, i, j] + softmin(prev) if prev else D[:, i, j]
    return R[-1][-1].clone()


def right(x, y):
    b, n, _ = x.shape
    m = y.shape[1]
    D = x.square().sum(-1)[:, :, None] + y.square().sum(-1)[:, None, :] - 2 * torch.bmm(x, y.mT)
    R = torch.full((b, n + 1, m + 1), float("inf"), dtype=x.dtype)
    R[:, 0, 0] = 0
    for s in range(2, n + m + 1):
        i = torch.arange(max(1, s - m), min(n, s - 1) + 1)
        j = s - i
        a, u, l = R[:, i - 1, j - 1], R[:, i - 1, j], R[:, i, j - 1]
        lo = torch.minimum(torch.minimum(a, u), l)
        acc = sum(torch.exp((lo - c) / GAMMA) for c in (a, u, l))
        R[:, i, j] = D[:, i - 1, j - 1] + lo - GAMMA * torch.log(acc)
    return R[:, n, m].clone()


inputs = (torch.randn(2, 4, 3), torch.randn(2, 3, 3))
