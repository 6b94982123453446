"""Kernels as their authors wrote them who had read docs/lift.md only, and near misses of what it took to read them."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_max_kernel(x, out, N, START: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = START
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + cols, mask=cols < N, other=-float("inf"))
        m = tl.max(tl.maximum(v, m))
    tl.store(out + row, m)


def launch_row_max(M=5, N=300):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    row_max_kernel[(M,)](x, out, N, START=-float("inf"), BLOCK=64)
    return out


def launch_row_max_from_zero(M=5, N=300):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    row_max_kernel[(M,)](x, out, N, START=0.0, BLOCK=64)
    return out


def row_max(x):
    return x.amax(dim=1)


@triton.jit
def again_kernel(x, kept, out, n, k, BEHIND: tl.constexpr, LESS: tl.constexpr, SOME: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    if SOME:
        if tl.program_id(0) < k:
            tl.store(kept + at, v * v, mask=at < n)
    else:
        tl.store(kept + at, v * v, mask=at < n - LESS)
    w = tl.load(kept + at + BEHIND, mask=at + BEHIND < n, other=0.0)
    tl.store(out + at, w + 1.0, mask=at < n)


def run_again(x, k, **how):
    kept, out = torch.zeros_like(x), torch.empty_like(x)
    n = x.shape[0]
    again_kernel[(triton.cdiv(n, 128),)](x, kept, out, n, k, BLOCK=128, **how)
    return out


def launch_again(n=500, k=2):
    return run_again(torch.randn(n, device="cuda"), k, BEHIND=0, LESS=0, SOME=False)


def launch_again_behind(n=500, k=2):
    return run_again(torch.randn(n, device="cuda"), k, BEHIND=1, LESS=0, SOME=False)


def launch_again_more(n=500, k=2):
    return run_again(torch.randn(n, device="cuda"), k, BEHIND=0, LESS=1, SOME=False)


def launch_again_some(n=500, k=2):
    return run_again(torch.randn(n, device="cuda"), k, BEHIND=0, LESS=0, SOME=True)


def again(x):
    return x * x + 1


@triton.jit
def sine_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sin(tl.load(x + at, mask=at < n)), mask=at < n)


@torch.library.triton_op("contact::sine", mutates_args={})
def sine_by_triton_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(sine_kernel)[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


@torch.library.custom_op("contact::other_sine", mutates_args=())
def sine_by_custom_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    sine_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


@sine_by_custom_op.register_fake
def _(x):
    return torch.empty_like(x)


def launch_triton_op(n=500):
    return sine_by_triton_op(torch.randn(n, device="cuda"))


def launch_custom_op(n=500):
    return sine_by_custom_op(torch.randn(n, device="cuda"))


def launch_op_by_name(n=500):
    return torch.ops.contact.other_sine(torch.randn(n, device="cuda"))


def sine(x):
    return torch.sin(x)


def cosine(x):
    return torch.cos(x)


@triton.jit
def rotated_kernel(x, cos, sin, out, D, HALF: tl.constexpr):
    row = tl.program_id(0)
    h = tl.arange(0, HALF)
    keep = h < D // 2
    a = tl.load(x + row * D + 2 * h, mask=keep)
    b = tl.load(x + row * D + 2 * h + 1, mask=keep)
    c = tl.load(cos + row * (D // 2) + h, mask=keep)
    s = tl.load(sin + row * (D // 2) + h, mask=keep)
    tl.store(out + row * D + 2 * h, a * c - b * s, mask=keep)
    tl.store(out + row * D + 2 * h + 1, a * s + b * c, mask=keep)


def launch_rotated(M=6, H=20):
    x = torch.randn(M, 2 * H, device="cuda")
    cos, sin = torch.randn(M, H, device="cuda"), torch.randn(M, H, device="cuda")
    out = torch.empty_like(x)
    rotated_kernel[(M,)](x, cos, sin, out, 2 * H, HALF=32)
    return out


def rotated(x, cos, sin):
    out = torch.empty_like(x)
    out[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    out[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return out


def rotated_in_part(x, cos, sin):
    out = torch.empty_like(x)
    out[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    return out


@triton.jit
def pairs_kernel(x, out, N, HALF: tl.constexpr):
    row, h = tl.program_id(0), tl.arange(0, HALF)
    keep = h < N // 2
    a = tl.load(x + row * N + 2 * h, mask=keep)
    b = tl.load(x + row * N + 2 * h + 1, mask=keep)
    tl.store(out + row * (N // 2) + h, a + b, mask=keep)


def launch_pairs(M=5, N=40):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, N // 2, device="cuda")
    pairs_kernel[(M,)](x, out, N, HALF=32)
    return out


def launch_too_many_pairs(M=5, N=80):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, N // 2, device="cuda")
    pairs_kernel[(M,)](x, out, N, HALF=32)
    return out


def pairs(x):
    return x[:, 0::2] + x[:, 1::2]


@triton.jit
def described_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    out.store([at], x.load([at]) * 2)


def launch_described(n=512):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    given = (TensorDescriptor.from_tensor(one, [128]) for one in (x, out))
    described_kernel[(triton.cdiv(n, 128),)](*given, BLOCK=128)
    return out


def launch_square():
    x = torch.randn(37, 37, device="cuda")
    out = torch.empty_like(x)
    sine_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


def launch_looked_up():
    x = torch.randn(37, device="cuda")
    out = torch.empty_like(x)
    assert [None] * x.shape[0] + [True] == [None] * 37 + [True]
    sine_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


@triton.jit
def nibbles_kernel(x, low, high, n, MASK: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(low + at, (v & MASK).to(tl.float32), mask=at < n)
    tl.store(high + at, ((v >> 4) & 15).to(tl.float32) - 8.0, mask=at < n)


def nibbles_of(x, mask):
    low, high = (torch.empty(x.shape, device="cuda") for _ in range(2))
    n = x.shape[0]
    nibbles_kernel[(triton.cdiv(n, 128),)](x, low, high, n, MASK=mask, BLOCK=128)
    return low, high


def launch_nibbles(n=500):
    return nibbles_of(torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8), 15)


def launch_nibbles_of_words(n=500):
    return nibbles_of(torch.randint(-(2**31), 2**31 - 1, (n,), device="cuda", dtype=torch.int32), 15)


def launch_other_bits(n=500):
    return nibbles_of(torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8), 13)


def nibbles(x):
    return (x & 15).float(), ((x >> 4) & 15).float() - 8


@triton.jit
def quantized_kernel(x, scale, q, N, OTHER: tl.constexpr, LEAST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=OTHER)
    s = tl.max(tl.abs(v), axis=0) / 127.0
    tl.store(scale + row, s)
    r = tl.minimum(tl.maximum(tl.floor(v / s + 0.5), LEAST), 127.0)
    tl.store(q + row * N + c, r.to(tl.int8), mask=c < N)


def quantized_with(x, other, least):
    scale = torch.empty(x.shape[0], device="cuda")
    q = torch.empty(x.shape, dtype=torch.int8, device="cuda")
    quantized_kernel[(x.shape[0],)](x, scale, q, x.shape[1], OTHER=other, LEAST=least, BLOCK=128)
    return q, scale


def launch_quantized(M=5, N=100):
    return quantized_with(torch.randn(M, N, device="cuda"), 0.0, -128.0)


def launch_quantized_with_padding(M=5, N=100):
    return quantized_with(torch.randn(M, N, device="cuda"), 9.0, -128.0)


def launch_quantized_too_low(M=5, N=100):
    return quantized_with(torch.randn(M, N, device="cuda"), 0.0, -129.0)


def launch_quantized_not_low_enough(M=5, N=100):
    return quantized_with(torch.randn(M, N, device="cuda"), 0.0, -126.0)


def quantized(x):
    s = x.abs().amax(dim=1) / 127.0
    return torch.floor(x / s[:, None] + 0.5).clamp(-128, 127).to(torch.int8), s


@triton.jit
def softmax_in_place_kernel(x, out, N, BEHIND: tl.constexpr, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * N + c, e, mask=c < N)
    again = tl.load(out + row * N + c, mask=c < N)
    tl.store(out + row * N + c + BEHIND, again / tl.sum(e, axis=0), mask=c + BEHIND < N)


def launch_softmax_in_place(M=6, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_in_place_kernel[(M,)](x, out, N, BEHIND=0, BLOCK=128)
    return out


def launch_softmax_one_behind(M=6, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_in_place_kernel[(M,)](x, out, N, BEHIND=1, BLOCK=128)
    return out


def softmax(x):
    return torch.softmax(x, dim=-1)


@triton.jit
def masked_mean_kernel(x, m, out, N, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    keep = tl.load(m + row * N + c, mask=c < N, other=0).to(tl.int1)
    v = tl.where(keep, tl.load(x + row * N + c, mask=c < N, other=0.0), 0.0)
    tl.store(out + row, tl.sum(v, axis=0) / tl.maximum(tl.sum(keep.to(tl.float32), axis=0), 1.0))


def launch_masked_mean(M=5, N=100):
    x, m = torch.randn(M, N, device="cuda"), torch.rand(M, N, device="cuda") > 0.5
    out = torch.empty(M, device="cuda")
    masked_mean_kernel[(M,)](x, m, out, N, BLOCK=128)
    return out


def masked_mean(x, m):
    return (x * m).sum(1) / m.sum(1).clamp(min=1)
