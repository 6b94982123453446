"""References that are formulas only under conditions that the launch has, or that name a size which it leaves open."""

import torch
import triton
import triton.language as tl


@triton.jit
def positions_kernel(x, table, out, T, D, START: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = d < D
    row = tl.load(table + (t + START) * D + d, mask=inside)
    tl.store(out + t * D + d, tl.load(x + t * D + d, mask=inside) + row, mask=inside)


def run_positions(x, table, start):
    T, D = x.shape
    assert T + start <= table.shape[0]
    out = torch.empty_like(x)
    positions_kernel[(T, triton.cdiv(D, 16))](x, table, out, T, D, START=start, BLOCK=16)
    return out


def launch_positions(T=6, D=20, L=10):
    x = torch.randn(T, D, device="cuda")
    table = torch.randn(L, D, device="cuda")
    return run_positions(x, table, 0)


def launch_positions_behind(T=6, D=20, L=10):
    x = torch.randn(T, D, device="cuda")
    table = torch.randn(L, D, device="cuda")
    return run_positions(x, table, 2)


def positions(x, table):
    return x + table[: x.shape[0]]


def positions_behind(x, table):
    return x + table[2 : x.shape[0] + 2]


def last_positions(x, table):
    return x + table[-x.shape[0] :]


@triton.jit
def count_kernel(codes, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(codes + at, mask=at < n, other=0), 1, mask=at < n)


def launch_count(n=50):
    codes = torch.randint(0, 24, (n,), device="cuda")
    counts = torch.zeros(24, dtype=torch.int32, device="cuda")
    count_kernel[(triton.cdiv(n, 32),)](codes, counts, n, BLOCK=32)
    return counts


def count(codes):
    ones = torch.ones_like(codes, dtype=torch.int32)
    return torch.zeros(24, dtype=torch.int32, device=codes.device).scatter_add(0, codes, ones)


def count_of_more(codes):
    ones = torch.ones_like(codes, dtype=torch.int32)
    return torch.zeros(25, dtype=torch.int32, device=codes.device).scatter_add(0, codes, ones)


@triton.jit
def copies_kernel(x, slots, out, D, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = tl.load(slots + row) // K
    for start in range(0, D, BLOCK):
        d = start + tl.arange(0, BLOCK)
        tl.store(out + row * D + d, tl.load(x + token * D + d, mask=d < D), mask=d < D)


def launch_copies(T=6, D=40, K=2):
    x = torch.randn(T, D, device="cuda")
    slots = torch.arange(T * K, device="cuda").flip(0)
    out = torch.empty(T * K, D, device="cuda")
    copies_kernel[(T * K,)](x, slots, out, D, K, BLOCK=16)
    return out


def launch_copies_beyond(T=6, D=40, K=2):
    x = torch.randn(T, D, device="cuda")
    slots = torch.arange(T * K, device="cuda").flip(0) + K
    out = torch.empty(T * K, D, device="cuda")
    copies_kernel[(T * K,)](x, slots, out, D, K, BLOCK=16)
    return out


def launch_copies_with_padding(T=6, D=40, K=2):
    x = torch.randn(T, D, device="cuda")
    slots = torch.arange(T * K, device="cuda").flip(0) - 1
    out = torch.empty(T * K, D, device="cuda")
    copies_kernel[(T * K,)](x, slots, out, D, K, BLOCK=16)
    return out


def copies(x, slots):
    return x[slots // (slots.shape[0] // x.shape[0])]


# References that decide on a size: they are other programs beyond it.


def rescaled_positions(x, table):
    return x + table[: x.shape[0]] * (1.0 if x.shape[0] <= 7 else 7 / x.shape[0])


def refused_positions(x, table):
    if x.shape[1] > 512:
        raise ValueError("too wide")
    return x + table[: x.shape[0]]


def unlike_whole_positions(x, table):
    if table.shape[0] == x.shape[0]:
        return x - table
    return x + table[: x.shape[0]]


@triton.jit
def scaled_kernel(x, scale, out, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < N
    tl.store(out + i, tl.load(x + i, mask=inside).to(tl.float32) * tl.load(scale + i, mask=inside), mask=inside)


def run_scaled(x, scale):
    (N,) = x.shape
    out = torch.empty(N, dtype=torch.float32, device=x.device)
    scaled_kernel[(triton.cdiv(N, 16),)](x, scale, out, N, BLOCK=16)
    return out


EXAMPLES = torch.randn(40), torch.rand(40)


def launch_defaults(x=EXAMPLES[0], scale=EXAMPLES[1]):
    return run_scaled(x, scale)


def launch_derived(N=40):
    x = torch.randn(N, device="cuda")
    angles = torch.randn(N, device="cuda")
    scale = angles.cos()
    return run_scaled(x, scale)


def launch_bytes(N=40):
    x = torch.randn(N, device="cuda").to(torch.float8_e4m3fn)
    scale = torch.rand(N, device="cuda")
    return run_scaled(x, scale)


def scaled(x, scale):
    return x.float() * scale


def scaled_twice(x, scale):
    return x.float() * scale * 2
