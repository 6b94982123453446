"""States that a loop decays and adds to, sums beside a maximum of each lane, rows in chunks, tiles summed as a whole;
each with what it computes in PyTorch, and what is nearly that."""

import torch
import triton
import triton.language as tl


@triton.jit
def average_kernel(x, h0, y, T, C, keep, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(h0 + b * C + c, mask=c < C)  # undefined behind the end
    for t in range(T):
        h = keep * h + (1 - keep) * tl.load(x + (b * T + t) * C + c, mask=c < C)
        tl.store(y + (b * T + t) * C + c, h, mask=c < C)


def launch_average(B=2, T=5, C=20):
    x = torch.randn(B, T, C)
    h0 = torch.randn(B, C)
    y = torch.empty_like(x)
    average_kernel[(B, triton.cdiv(C, 16))](x, h0, y, T, C, 0.9, BLOCK=16)
    return y


def average(x, h0):
    h, found = h0, []
    for t in range(x.shape[1]):
        h = 0.9 * h + 0.1 * x[:, t]
        found.append(h)
    return torch.stack(found, 1)


def average_kept_less(x, h0):
    h, found = h0, []
    for t in range(x.shape[1]):
        h = 0.8 * h + 0.1 * x[:, t]
        found.append(h)
    return torch.stack(found, 1)


@triton.jit
def returns_kernel(reward, go_on, out, T):
    b = tl.program_id(0)
    later = 0.0
    for i in range(T):
        t = T - 1 - i
        later = tl.load(reward + b * T + t) + 0.99 * tl.load(go_on + b * T + t) * later
        tl.store(out + b * T + t, later)


def launch_returns(B=3, T=9):
    reward = torch.randn(B, T)
    go_on = torch.randn(B, T)
    out = torch.empty_like(reward)
    returns_kernel[(B,)](reward, go_on, out, T)
    return out


def returns(reward, go_on):
    later, found = torch.zeros_like(reward[:, 0]), []
    for t in reversed(range(reward.shape[1])):
        later = reward[:, t] + 0.99 * go_on[:, t] * later
        found.append(later)
    return torch.stack(found[::-1], 1)


def returns_in_the_other_order(reward, go_on):
    later, found = torch.zeros_like(reward[:, 0]), []
    for t in range(reward.shape[1]):
        later = reward[:, t] + 0.99 * go_on[:, t] * later
        found.append(later)
    return torch.stack(found, 1)


@triton.jit
def retention_kernel(q, k, v, gamma, o, T, H, D: tl.constexpr):
    head = tl.program_id(0)
    keep = tl.load(gamma + head % H)
    i = tl.arange(0, D)
    h = tl.zeros([D, D], tl.float32)
    for t in range(T):
        at = (head * T + t) * D + i
        h = keep * h + tl.load(k + at)[:, None] * tl.load(v + at)[None, :]
        tl.store(o + at, tl.sum(tl.load(q + at)[:, None] * h, 0))


def launch_retention(B=3, H=2, T=5):
    q = torch.randn(B, H, T, 16)
    k = torch.randn(B, H, T, 16)
    v = torch.randn(B, H, T, 16)
    gamma = torch.randn(H)
    o = torch.empty_like(v)
    retention_kernel[(B * H,)](q, k, v, gamma, o, T, H, D=16)
    return o


def retention(q, k, v, gamma):
    t = torch.arange(q.shape[2])
    gap = (t[:, None] - t).clamp(min=0).to(q.dtype)
    return ((q @ k.transpose(-1, -2)) * torch.tril(gamma[:, None, None] ** gap)) @ v


def retention_one_step_late(q, k, v, gamma):
    t = torch.arange(q.shape[2])
    gap = (t[:, None] - t + 1).clamp(min=0).to(q.dtype)
    return ((q @ k.transpose(-1, -2)) * torch.tril(gamma[:, None, None] ** gap)) @ v


@triton.jit
def swapped_kernel(x, y, T):
    """Two states that are each other's part: no state by itself is a decay."""
    a, b = 0.0, 1.0
    for t in range(T):
        a, b = 0.5 * b + tl.load(x + t), 0.5 * a
    tl.store(y, a)


def launch_swapped(T=9):
    x = torch.randn(T)
    y = torch.empty(1)
    swapped_kernel[(1,)](x, y, T)
    return y


@triton.jit
def lanes_kernel(x, y, n, SAFE: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK], tl.float32)
    for k in range(0, n, BLOCK):
        v = tl.load(x + row * n + k + lane, mask=k + lane < n, other=float("-inf"))
        new = tl.maximum(m, v)
        if SAFE:
            shift = tl.where(new == float("-inf"), 0.0, new)
            s = s * tl.exp(m - shift) + tl.exp(v - shift)
        else:
            old = tl.where(m == float("-inf"), 0.0, tl.exp(m - new))
            s = s * old + tl.where(v == float("-inf"), 0.0, tl.exp(v - new))
        m = new
    top = tl.max(m, 0)
    tl.store(y + row, top + tl.log(tl.sum(tl.where(m == float("-inf"), 0.0, s * tl.exp(m - top)), 0)))


def launch_lanes_safe(rows=3, n=70):
    x = torch.randn(rows, n)
    y = torch.empty(rows)
    lanes_kernel[(rows,)](x, y, n, SAFE=True, BLOCK=32)
    return y


def launch_lanes_guarded(rows=3, n=70):
    x = torch.randn(rows, n)
    y = torch.empty(rows)
    lanes_kernel[(rows,)](x, y, n, SAFE=False, BLOCK=32)
    return y


def lanes(x):
    return x.logsumexp(-1)


def lanes_without_one(x):
    return x[:, :-1].logsumexp(-1)


@triton.jit
def unguarded_kernel(x, y, n, BLOCK: tl.constexpr):
    """Lanes behind the end of a short row take −∞ from −∞."""
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK], tl.float32)
    for k in range(0, n, BLOCK):
        v = tl.load(x + row * n + k + lane, mask=k + lane < n, other=float("-inf"))
        new = tl.maximum(m, v)
        s = s * tl.exp(m - new) + tl.exp(v - new)
        m = new
    top = tl.max(m, 0)
    tl.store(y + row, top + tl.log(tl.sum(s * tl.exp(m - top), 0)))


def launch_unguarded(rows=3, n=70):
    x = torch.randn(rows, n)
    y = torch.empty(rows)
    unguarded_kernel[(rows,)](x, y, n, BLOCK=32)
    return y


@triton.jit
def chunk_kernel(x, lse, n, chunks, CAP: tl.constexpr, BLOCK: tl.constexpr):
    row, chunk = tl.program_id(0), tl.program_id(1)
    at = chunk * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    v = tl.where(at < n, CAP * (2 * tl.sigmoid(2 * v / CAP) - 1), -float("inf"))
    top = tl.max(v, 0)
    tl.store(lse + row * chunks + chunk, top + tl.log(tl.sum(tl.exp(v - top), 0)))


def launch_chunks(rows=3, n=150):
    x = torch.randn(rows, n)
    chunks = triton.cdiv(n, 64)
    lse = torch.empty(rows, chunks)
    chunk_kernel[(rows, chunks)](x, lse, n, chunks, CAP=30.0, BLOCK=64)
    return torch.logsumexp(lse, 1)


def chunks(x):
    return (30 * torch.tanh(x / 30)).logsumexp(-1)


def chunks_summed(x):
    return (30 * torch.tanh(x / 30)).exp().sum(-1)


@triton.jit
def tile_kernel(x, mean, rows, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    group, r, c = tl.program_id(0), tl.arange(0, ROWS), tl.arange(0, COLS)
    inside = (r[:, None] < rows) & (c[None, :] < n)
    tile = tl.load(x + group * rows * n + r[:, None] * n + c[None, :], mask=inside, other=0.0)
    tl.store(mean + group, tl.sum(tile) / (rows * n))


def launch_tile(groups=3, rows=5, n=12):
    x = torch.randn(groups, rows, n)
    mean = torch.empty(groups)
    tile_kernel[(groups,)](
        x, mean, rows, n, ROWS=triton.next_power_of_2(rows), COLS=triton.next_power_of_2(n)
    )
    return mean


def tile(x):
    return x.mean((1, 2))


def tile_of_rows(x):
    return x[:, 0].mean(1)


@triton.jit
def margin_kernel(x, labels, out, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    v = tl.load(x + row * n + lane, mask=lane < n, other=0.0)
    picked = tl.load(x + row * n + label, mask=label != -100, other=0.0)
    tl.store(out + row, tl.where(label != -100, picked - tl.sum(v, 0), 0.0))


def launch_margin(rows=4, n=20):
    x = torch.randn(rows, n)
    labels = torch.randint(0, n, (rows,))
    out = torch.empty(rows)
    margin_kernel[(rows,)](x, labels, out, n, BLOCK=triton.next_power_of_2(n))
    return -torch.nn.functional.logsigmoid(out)


def margin(x, labels):
    return torch.nn.functional.softplus(x.sum(-1) - x.gather(1, labels[:, None])[:, 0])


def margin_of_the_other_sign(x, labels):
    return torch.nn.functional.softplus(x.gather(1, labels[:, None])[:, 0] - x.sum(-1))
