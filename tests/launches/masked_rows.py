"""Rows of tokens that slots name, −1 for none, times two halves of a weight: a gate and what it lets through."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def gate(x, w, slots, out, N, K, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    c = tl.program_id(0)
    n = tl.program_id(1)
    token = tl.load(slots + c)
    first, second = 0.0, 0.0
    for k in range(0, K, BLOCK):
        d = k + tl.arange(0, BLOCK)
        row = tl.load(x + token * K + d, mask=(token >= FIRST) & (d < K), other=0.0)
        first += tl.sum(row * tl.load(w + n * K + d, mask=d < K, other=0.0))
        second += tl.sum(row * tl.load(w + (N + n) * K + d, mask=d < K, other=0.0))
    tl.store(out + c * N + n, first * tl.sigmoid(first) * second)


def launch(T=12, C=18, N=6, K=40):
    x = torch.randn(T, K, device="cuda")
    w = torch.randn(2 * N, K, device="cuda")
    slots = torch.randint(-1, T, (C,), device="cuda")
    out = torch.empty(C, N, device="cuda")
    gate[(C, N)](x, w, slots, out, N, K, BLOCK=32, FIRST=0)
    return out


def launch_without_the_first(T=12, C=18, N=6, K=40):
    x = torch.randn(T, K, device="cuda")
    w = torch.randn(2 * N, K, device="cuda")
    slots = torch.randint(-1, T, (C,), device="cuda")
    out = torch.empty(C, N, device="cuda")
    gate[(C, N)](x, w, slots, out, N, K, BLOCK=32, FIRST=1)
    return out


def gated(x, w, slots):
    rows = x[slots.clamp(min=0)] * (slots >= 0)[:, None]
    first, second = torch.einsum("ck,nk->cn", rows, w).chunk(2, dim=-1)
    return F.silu(first) * second


def gated_by_second(x, w, slots):
    rows = x[slots.clamp(min=0)] * (slots >= 0)[:, None]
    first, second = torch.einsum("ck,nk->cn", rows, w).chunk(2, dim=-1)
    return F.silu(second) * first


def without_a_mask(x, w, slots):
    first, second = torch.einsum("ck,nk->cn", x[slots.clamp(min=0)], w).chunk(2, dim=-1)
    return F.silu(first) * second
