"""Softmax-weighted means of a window of each row, over tiles of all columns: the window hides the first tiles whole, so
that the running maximum is −∞ for a while."""
import torch
import triton
import triton.language as tl


@triton.jit
def mean(x, v, o, n, window, BLOCK: tl.constexpr, KIND: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    m = -float("inf")
    total = 0.0
    if KIND == "one":
        total = 1.0
    acc = 0.0
    for start in range(0, n, BLOCK):
        cols = start + lanes
        seen = (cols <= row) & (row - cols < window) & (cols < n)
        if KIND == "wider":
            seen = (cols <= row) & (row - cols <= window) & (cols < n)
        score = tl.load(x + row * n + cols, mask=seen, other=0.0)
        if KIND == "exp2":
            score = score * 1.4426950408889634
        s = tl.where(seen, score, -float("inf"))
        new = tl.maximum(m, tl.max(s, 0))
        safe = tl.where(new == -float("inf"), 0.0, new)
        if KIND == "unguarded":
            safe = new
        if KIND == "exp2":
            p = tl.exp2(s - safe)
            alpha = tl.exp2(m - safe)
        else:
            p = tl.exp(s - safe)
            alpha = tl.exp(m - safe)
        if KIND == "masked":
            p = tl.where(seen, tl.exp(score - safe), 0.0)
        if KIND == "shown":
            p = tl.where(cols < n, tl.exp(score - safe), 0.0)
        if KIND == "alpha":
            alpha = tl.exp(m - new)
        if KIND == "weight":
            p = tl.exp(s - new)
        if KIND == "kept":
            alpha = tl.where(m == -float("inf"), 1.0, alpha)
        total = total * alpha + tl.sum(p, 0)
        if KIND == "mean":
            alpha = tl.exp(m - new)
        value = tl.load(v + cols, mask=cols < n, other=0.0)
        if KIND == "infinite":
            value = tl.where(cols == 0, -float("inf"), value)
        acc = acc * alpha + tl.sum(p * value, 0)
        m = new
    tl.store(o + row, acc / total)


def launched(x, v, window, kind):
    o = torch.empty(x.shape[0])
    mean[(x.shape[0],)](x, v, o, x.shape[0], window, BLOCK=8, KIND=kind)
    return o


def launch_plain(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "plain")


def launch_exp2(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "exp2")


def launch_masked(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "masked")


def launch_kept(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "kept")


def launch_one(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "one")


def launch_wider(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "wider")


def launch_unguarded(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "unguarded")


def launch_alpha(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "alpha")


def launch_weight(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "weight")


def launch_mean(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "mean")


def launch_infinite(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "infinite")


def launch_shown(n=37, window=5):
    x, v = torch.randn(n, n), torch.randn(n)
    return launched(x, v, window, "shown")


def reference(x, v, window):
    i = torch.arange(x.shape[0])
    apart = i[:, None] - i[None, :]
    s = x.masked_fill((apart < 0) | (apart >= window), -float("inf"))
    return torch.softmax(s, -1) @ v
