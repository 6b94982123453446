"""bfloat16 in the interpreter is what torch has: computed in float32, rounded to the nearest, ties to even."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from kernel_corpus import target
from samesame.kernels.host.interpret import interpret
from samesame.lift import lift

BLOCK = tl.constexpr(64)


@triton.jit
def pointwise_kernel(x_ptr, y_ptr, out_ptr, n):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(x < y, x * y, -x) - tl.maximum(y, 0.25), mask=i < n)


@triton.jit
def rows_kernel(x_ptr, sum_ptr, max_ptr, at_ptr, running_ptr, N: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, N)
    x = tl.load(x_ptr + row * N + cols)
    tl.store(sum_ptr + row, tl.sum(x, axis=0))
    tl.store(max_ptr + row, tl.max(x, axis=0))
    tl.store(at_ptr + row, tl.argmin(x, axis=0))
    tl.store(running_ptr + row * N + cols, tl.cumsum(x, axis=0))


@triton.jit
def dot_kernel(x_ptr, y_ptr, out_ptr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    tl.store(out_ptr + at, tl.dot(tl.load(x_ptr + at), tl.load(y_ptr + at)))


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape))).bfloat16()


def test_arithmetic_and_comparisons() -> None:
    x, y = numbers(100), numbers(100).flip(0)

    def launch(x, y):
        out = torch.empty_like(x)
        pointwise_kernel[(2,)](x, y, out, 100)
        return out

    (out,) = interpret(launch, (x, y)).outputs.values()
    assert torch.equal(out, torch.where(x < y, x * y, -x) - y.clamp(min=0.25))


def test_reductions_and_scans() -> None:
    x = numbers(3, 32)

    def launch(x):
        total, best, at = (torch.empty(3, dtype=t) for t in (torch.bfloat16, torch.bfloat16, torch.int32))
        running = torch.empty_like(x)
        rows_kernel[(3,)](x, total, best, at, running, N=32)
        return total, best, at, running

    total, best, at, running = interpret(launch, (x,)).outputs.values()
    assert torch.equal(total, x.float().sum(1).bfloat16())
    assert torch.equal(best, x.amax(1)) and torch.equal(at.long(), x.argmin(1))
    assert torch.equal(running, x.float().cumsum(1).bfloat16())


def test_a_product_of_tiles() -> None:
    x, y = numbers(16, 16), numbers(16, 16).T.contiguous()

    def launch(x, y):
        out = torch.empty_like(x)
        dot_kernel[(1,)](x, y, out)
        return out

    (out,) = interpret(launch, (x, y)).outputs.values()
    assert torch.equal(out, (x.float() @ y.float()).bfloat16())


@pytest.mark.parametrize("name", ["vector_add", "matmul", "softmax", "rms_norm"])
def test_the_error_in_bfloat16_is_that_of_its_rounding(name: str) -> None:
    kernel = lift(target(name), numerics=True).kernels[0]
    errors = {m.dtype: m.error for m in kernel.numerics}
    assert 1e-4 < errors["bfloat16"] < 2e-2
