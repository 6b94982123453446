"""Windows that step by two over rows with padding, as convolutions and pools do; a function `launch_…` runs each."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def convolution_kernel(x_ptr, w_ptr, out_ptr, width, places, taps: tl.constexpr, pad: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    place = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in range(taps):
        at = 2 * place + k - pad
        inside = (at >= 0) & (at < width)
        total += tl.load(x_ptr + row * width + at, mask=inside, other=0.0) * tl.load(w_ptr + k)
    tl.store(out_ptr + row * places + place, total, mask=place < places)


def convolved(x, weight, pad=1):
    rows, width = x.shape
    places = (width + 2 - 3) // 2 + 1
    out = torch.empty(rows, places)
    convolution_kernel[(rows, triton.cdiv(places, 16))](x, weight, out, width, places, 3, pad, 16)
    return out


def launch_convolution():
    x, weight = torch.randn(4, 23), torch.randn(3)
    return convolved(x, weight)


def launch_convolution_without_padding():
    x, weight = torch.randn(4, 23), torch.randn(3)
    return convolved(x, weight, pad=0)


def convolution(x, weight):
    return F.conv1d(x[:, None, :], weight[None, None, :], stride=2, padding=1)[:, 0, :]


@triton.jit
def greatest_kernel(x_ptr, out_ptr, width, places, pad: tl.constexpr, least, BLOCK: tl.constexpr):
    """The greatest element of each window of three; of those behind an end, `least` stands for the element."""
    row = tl.program_id(0)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for k in range(3):
        at = 2 * place + k - pad
        inside = (place < places) & (at >= 0) & (at < width)
        best = tl.maximum(best, tl.load(x_ptr + row * width + at, mask=inside, other=least))
    tl.store(out_ptr + row * places + place, best, mask=place < places)


def pooled(x, pad=1, least=float("-inf"), more=0):
    rows, width = x.shape
    places = (width + 2 - 3) // 2 + 1 + more
    out = torch.empty(rows, places)
    greatest_kernel[(rows, triton.cdiv(places, 16))](x, out, width, places, pad, least, BLOCK=16)
    return out


def launch_greatest():
    x = torch.randn(4, 23)
    return pooled(x)


def launch_greatest_and_zero():
    x = torch.randn(4, 23)
    return pooled(x, least=0.0)


def launch_greatest_without_padding():
    x = torch.randn(4, 23)
    return pooled(x, pad=0)


def launch_greatest_of_nothing():
    """The last window lies behind the row, and its maximum is that of nothing."""
    x = torch.randn(4, 23)
    return pooled(x, more=1)


def greatest(x):
    return F.max_pool1d(x, kernel_size=3, stride=2, padding=1)
