"""States that decay and keep their scale beside them, so that no exponential is large: the maximum that they are scaled
by is shifted in each step before it grows. Each with what it computes in PyTorch, and what is nearly that."""

import torch
import triton
import triton.language as tl


@triton.jit
def wkv_kernel(w, u, k, v, y, T, C, BLOCK: tl.constexpr):
    """RWKV-4: a decay for each channel."""
    b = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < C
    decay = -tl.exp(tl.load(w + c, mask=inside, other=0.0))
    bonus = tl.load(u + c, mask=inside, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    top = tl.full((BLOCK,), -1e38, tl.float32)
    for t in range(T):
        at = (b * T + t) * C + c
        key = tl.load(k + at, mask=inside, other=0.0)
        value = tl.load(v + at, mask=inside, other=0.0)
        now = tl.maximum(top, bonus + key)
        before, new = tl.exp(top - now), tl.exp(bonus + key - now)
        tl.store(y + at, (before * total + new * value) / (before * weight + new), mask=inside)
        now = tl.maximum(top + decay, key)
        before, new = tl.exp(top + decay - now), tl.exp(key - now)
        total = before * total + new * value
        weight = before * weight + new
        top = now


def launch_wkv(B=2, T=3, C=20):
    w, u = torch.randn(C), torch.randn(C)
    k, v = torch.randn(B, T, C), torch.randn(B, T, C)
    y = torch.empty_like(v)
    wkv_kernel[(B,)](w, u, k, v, y, T, C, BLOCK=triton.next_power_of_2(C))
    return y


def wkv(w, u, k, v, late=0):
    decay, total, weight, found = torch.exp(-torch.exp(w)), 0.0, 0.0, []
    for t in range(k.shape[1]):
        new = torch.exp(u + k[:, t])
        found.append((total + new * v[:, t]) / (weight + new))
        total = decay * total + torch.exp(k[:, t]) * v[:, t]
        weight = decay * weight + torch.exp(k[:, t - late if t else 0])
    return torch.stack(found, 1)


def wkv_one_step_late(w, u, k, v):
    return wkv(w, u, k, v, late=1)


@triton.jit
def gated_kernel(forget, gate, x, y, T, BLOCK: tl.constexpr):
    """A decay for each step, as an mLSTM's forget gate; a sum that divides by what it is scaled by, at the end."""
    b = tl.program_id(0)
    total, weight, top = 0.0, 0.0, -float("inf")
    for t in range(T):
        f, i = tl.load(forget + b * T + t), tl.load(gate + b * T + t)
        now = tl.maximum(top + f, i)
        total = total * tl.exp(top + f - now) + tl.load(x + b * T + t) * tl.exp(i - now)
        weight = weight * tl.exp(top + f - now) + tl.exp(i - now)
        top = now
    tl.store(y + b, total / weight)


def launch_gated(B=2, T=4):
    forget, gate, x = torch.randn(B, T), torch.randn(B, T), torch.randn(B, T)
    y = torch.empty(B)
    gated_kernel[(B,)](forget, gate, x, y, T, BLOCK=16)
    return y


def gated(forget, gate, x, late=0):
    later = forget.flip(1).cumsum(1).flip(1) - (1 - late) * forget          # of the steps that come after
    share = torch.exp(gate + later)
    return (share * x).sum(1) / share.sum(1)


def gated_forgets_its_own(forget, gate, x):
    return gated(forget, gate, x, late=1)


@triton.jit
def unshifted_kernel(forget, gate, x, y, T, BLOCK: tl.constexpr):
    """Broken: what is held is not decayed where the maximum it is scaled by is."""
    b = tl.program_id(0)
    total, weight, top = 0.0, 0.0, -float("inf")
    for t in range(T):
        f, i = tl.load(forget + b * T + t), tl.load(gate + b * T + t)
        now = tl.maximum(top + f, i)
        total = total * tl.exp(top - now) + tl.load(x + b * T + t) * tl.exp(i - now)
        weight = weight * tl.exp(top + f - now) + tl.exp(i - now)
        top = now
    tl.store(y + b, total / weight)


def launch_unshifted(B=2, T=4):
    forget, gate, x = torch.randn(B, T), torch.randn(B, T), torch.randn(B, T)
    y = torch.empty(B)
    unshifted_kernel[(B,)](forget, gate, x, y, T, BLOCK=16)
    return y


@triton.jit
def least_scale_kernel(gate, y, T, BLOCK: tl.constexpr):
    """The maximum by itself, with a shift that differs from step to step."""
    b = tl.program_id(0)
    top = tl.load(gate + b * T)
    for t in range(1, T):
        top = tl.maximum(top - 0.5 * t, tl.load(gate + b * T + t))
    tl.store(y + b, top)


def launch_least_scale(B=2, T=4):
    gate = torch.randn(B, T)
    y = torch.empty(B)
    least_scale_kernel[(B,)](gate, y, T, BLOCK=16)
    return y


def least_scale(gate):
    top = gate[:, 0]
    for t in range(1, gate.shape[1]):
        top = torch.maximum(top - 0.5 * t, gate[:, t])
    return top


def least_scale_one_off(gate):
    top = gate[:, 0]
    for t in range(1, gate.shape[1]):
        top = torch.maximum(top - 0.5 * (t + 1), gate[:, t])
    return top


@triton.jit
def stepped_kernel(gate, y, T, BLOCK: tl.constexpr):
    """What is held is scaled by another power of the maximum in each step, and is no sum of what each step gave."""
    b = tl.program_id(0)
    total, top = 0.0, 0.0
    for t in range(T):
        i = tl.load(gate + b * T + t)
        now = tl.maximum(top - 0.5, i)
        total = total * tl.exp((t + 1) * (top - 0.5 - now)) + tl.exp((t + 1) * (i - now))
        top = now
    tl.store(y + b, total)


def launch_stepped(B=2, T=4):
    gate = torch.randn(B, T)
    y = torch.empty(B)
    stepped_kernel[(B,)](gate, y, T, BLOCK=16)
    return y


def stepped(gate):
    k = torch.arange(gate.shape[1])
    own = gate - 0.5 * (gate.shape[1] - 1 - k)
    top = torch.maximum(own.amax(1), torch.full_like(own[:, 0], -0.5 * gate.shape[1]))
    return torch.exp((k + 1) * (own - top[:, None])).sum(1)


@triton.jit
def tempered_kernel(temperature, gate, x, y, T, BLOCK: tl.constexpr):
    """A softmax with a temperature of each row, taken in the exponents; no shift."""
    b = tl.program_id(0)
    scale = tl.exp(tl.load(temperature + b))
    total, weight, top = 0.0, 0.0, -float("inf")
    for t in range(T):
        i = tl.load(gate + b * T + t)
        now = tl.maximum(top, i)
        before, new = tl.exp(scale * (top - now)), tl.exp(scale * (i - now))
        total, weight, top = total * before + new * tl.load(x + b * T + t), weight * before + new, now
    tl.store(y + b, total / weight)


def launch_tempered(B=2, T=4):
    temperature, gate, x = torch.randn(B), torch.randn(B, T), torch.randn(B, T)
    y = torch.empty(B)
    tempered_kernel[(B,)](temperature, gate, x, y, T, BLOCK=16)
    return y


def tempered(temperature, gate, x):
    return (torch.softmax(temperature.exp()[:, None] * gate, -1) * x).sum(-1)


@triton.jit
def nothing_before_kernel(forget, gate, y, T, BLOCK: tl.constexpr):
    """Broken: the gate of the step before, of which the first has none, beside −∞."""
    b = tl.program_id(0)
    total, top = 0.0, -float("inf")
    for t in range(T):
        f = tl.load(forget + b * T + t - 1, mask=t > 0)
        i = tl.load(gate + b * T + t)
        now = tl.maximum(top + f, i)
        total = total * tl.exp(top + f - now) + tl.exp(i - now)
        top = now
    tl.store(y + b, total * tl.exp(top))


def launch_nothing_before(B=2, T=4):
    forget, gate = torch.randn(B, T), torch.randn(B, T)
    y = torch.empty(B)
    nothing_before_kernel[(B,)](forget, gate, y, T, BLOCK=16)
    return y


def nothing_before(forget, gate):
    later = forget[:, :-1].flip(1).cumsum(1).flip(1)
    return torch.exp(gate + torch.cat([later, torch.zeros_like(later[:, :1])], 1)).sum(1)
