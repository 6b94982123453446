"""Linear prediction coefficients of order 3 from windowed frames."""
import torch

ORDER = 3


def left(frames):
    """Autocorrelation, then the recursion of Levinson and Durbin."""
    n = frames.shape[-1]
    r = [(frames[..., : n - lag] * frames[..., lag:]).sum(-1) for lag in range(ORDER + 1)]
    r[0] = r[0] * 1.001 + 1e-3

    error = r[0]
    a = []
    for i in range(ORDER):
        acc = r[i + 1]
        for j in range(i):
            acc = acc - a[j] * r[i - j]
        k = acc / error
        a = [a[j] - k * a[i - 1 - j] for j in range(i)] + [k]
        error = error * (1 - k * k)
    return torch.stack(a, dim=-1), error


def right(frames):
    """The normal equations, solved as they stand."""
    n = frames.shape[-1]
    padded = torch.nn.functional.pad(frames, (0, ORDER))
    r = torch.stack([torch.einsum("bi,bi->b", frames, padded[:, lag : lag + n]) for lag in range(ORDER + 1)], dim=-1)
    correction = torch.tensor([1.001] + [1.0] * ORDER, dtype=r.dtype)
    r = r * correction + torch.tensor([1e-3] + [0.0] * ORDER, dtype=r.dtype)

    idx = torch.arange(ORDER)
    toeplitz = r[:, (idx[:, None] - idx[None, :]).abs()]
    a = torch.linalg.solve(toeplitz, r[:, 1:])
    return a, r[:, 0] - (a * r[:, 1:]).sum(-1)


inputs = (torch.randn(3, 10),)
