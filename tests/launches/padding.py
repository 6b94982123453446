"""Kernels whose tile is the next power of two: lanes behind a row's end, masked, and not masked where they have to be.

The example's rows have 64 elements, as many as the tile has lanes, so that there the wrong ones are right as well."""

import torch
import triton
import triton.language as tl


@triton.jit
def group_norm_kernel(x, w, b, y, G, group, CG, HW, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    base = pid * group
    c = tl.arange(0, BLOCK)
    mask = c < group
    values = tl.load(x + base + c, mask=mask, other=0.0)
    centred = values - tl.sum(values, axis=0) / group
    if MASKED:
        centred = tl.where(mask, centred, 0.0)
    variance = tl.sum(centred * centred, axis=0) / group
    channel = (pid % G) * CG + c // HW
    weight = tl.load(w + channel, mask=mask, other=0.0)
    bias = tl.load(b + channel, mask=mask, other=0.0)
    tl.store(y + base + c, centred / tl.sqrt(variance + 1e-5) * weight + bias, mask=mask)


def group_norms(x, weight, bias, G, masked):
    N, C, HW = x.shape
    CG, y = C // G, torch.empty_like(x)
    block = triton.next_power_of_2(CG * HW)
    group_norm_kernel[(N * G,)](x, weight, bias, y, G, CG * HW, CG, HW, MASKED=masked, BLOCK=block)
    return y


def launch_group_norm(N=2, G=3, CG=4, HW=16):
    x = torch.randn(N, G * CG, HW, device="cuda")
    weight, bias = torch.randn(G * CG, device="cuda"), torch.randn(G * CG, device="cuda")
    return group_norms(x, weight, bias, G, masked=True)


def launch_group_norm_not_masked(N=2, G=3, CG=4, HW=16):
    x = torch.randn(N, G * CG, HW, device="cuda")
    weight, bias = torch.randn(G * CG, device="cuda"), torch.randn(G * CG, device="cuda")
    return group_norms(x, weight, bias, G, masked=False)


def group_norm(x, weight, bias, G):
    return torch.nn.functional.group_norm(x, G, weight, bias, 1e-5)


@triton.jit
def row_kernel(x, out, N, WHAT: tl.constexpr, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    mask = c < N
    if WHAT == "softmax":
        v = tl.load(x + row * N + c, mask=mask, other=-float("inf") if MASKED else 0.0)
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * N + c, e / tl.sum(e, axis=0), mask=mask)
    elif WHAT == "mean":
        v = tl.load(x + row * N + c, mask=mask, other=0.0)
        tl.store(out + row, tl.sum(v, axis=0) / (N if MASKED else BLOCK))
    elif WHAT == "maximum":
        v = tl.load(x + row * N + c, mask=mask, other=-float("inf") if MASKED else 0.0)
        tl.store(out + row, tl.max(v, axis=0))
    elif WHAT == "minimum":
        v = tl.load(x + row * N + c, mask=mask, other=float("inf") if MASKED else 0.0)
        tl.store(out + row, tl.min(v, axis=0))
    else:
        v = tl.load(x + row * N + c, mask=mask, other=0.0)
        v = v - tl.sum(v, axis=0) / N
        if MASKED:
            v = tl.where(mask, v, 0.0)
        variance = tl.sum(v * v, axis=0) / N
        tl.store(out + row * N + c, v * tl.rsqrt(variance + 1e-5), mask=mask)


def rows(x, what, masked):
    M, N = x.shape
    out = torch.empty_like(x) if what in ("softmax", "layer_norm") else torch.empty(M, device=x.device)
    row_kernel[(M,)](x, out, N, WHAT=what, MASKED=masked, BLOCK=triton.next_power_of_2(N))
    return out


def launch_softmax(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "softmax", masked=True)


def launch_softmax_not_masked(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "softmax", masked=False)


def softmax(x):
    return torch.softmax(x, -1)


def launch_layer_norm(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "layer_norm", masked=True)


def launch_layer_norm_not_masked(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "layer_norm", masked=False)


def layer_norm(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def launch_mean(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "mean", masked=True)


def launch_mean_not_masked(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "mean", masked=False)


def mean(x):
    return x.mean(-1)


def launch_maximum(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "maximum", masked=True)


def launch_maximum_not_masked(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "maximum", masked=False)


def maximum(x):
    return x.amax(-1)


def launch_minimum(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "minimum", masked=True)


def launch_minimum_not_masked(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    return rows(x, "minimum", masked=False)


def minimum(x):
    return x.amin(-1)


@triton.jit
def erf_kernel(x, out, N, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=(c < N) | (not MASKED), other=0.0)
    tl.store(out + row, tl.sum(tl.erf(v) * tl.erf(v), axis=0))


def launch_erf_of_whole_tiles(M=4, N=64):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    erf_kernel[(M,)](x, out, N, MASKED=False, BLOCK=triton.next_power_of_2(N))
    return out


def erf(x):
    return (torch.special.gammainc(torch.full_like(x, 0.5), x * x) ** 2).sum(-1)


@triton.jit
def rows_of_64_kernel(x, out, M, D: tl.constexpr, BLOCK: tl.constexpr):
    r, c = tl.arange(0, BLOCK), tl.arange(0, D)
    v = tl.load(x + r[:, None] * D + c[None, :], mask=r[:, None] < M, other=0.0)
    tl.store(out + c, tl.max(v, axis=0))


def launch_written_down(M=50, N=64):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(N, device="cuda")
    rows_of_64_kernel[(1,)](x, out, M, D=64, BLOCK=triton.next_power_of_2(M))
    return out


def launch_without_parameters():
    x = torch.randn(50, 64, device="cuda")
    out = torch.empty(64, device="cuda")
    rows_of_64_kernel[(1,)](x, out, 50, D=64, BLOCK=triton.next_power_of_2(x.shape[0]))
    return out


def launch_largest_of_columns(M=32, N=64):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(N, device="cuda")
    rows_of_64_kernel[(1,)](x, out, M, D=64, BLOCK=triton.next_power_of_2(M))
    return out


def largest_of_columns(x):
    return x.amax(0)


def launch_chosen(M=50, N=64):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    erf_kernel[(M,)](x, out, N, MASKED=True, BLOCK=triton.next_power_of_2(N))
    return out


def launch_drawn(N=64):
    x = torch.randn(N, device="cuda")
    chosen = torch.randn(N, device="cuda") > 0
    scale = torch.rand(N, device="cuda")
    near_one = torch.empty(N, device="cuda").normal_(1.0, 0.1)
    last = torch.empty(N, device="cuda").normal_()
    out = torch.empty_like(x)
    each_kernel[(1,)](x, chosen, scale, near_one, last, out, N, BLOCK=triton.next_power_of_2(N))
    return out


@triton.jit
def each_kernel(x, chosen, scale, near_one, last, out, N, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(x + c, mask=c < N, other=0.0) * tl.load(scale + c, mask=c < N, other=0.0)
    v += tl.load(near_one + c, mask=c < N, other=0.0) + tl.load(last + c, mask=c < N, other=0.0)
    tl.store(out + c, tl.where(tl.load(chosen + c, mask=c < N, other=0) != 0, v, 0.0), mask=c < N)
