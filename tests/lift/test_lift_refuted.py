"""Wrong kernels that random numbers at the example's sizes do not show are violated, with a case; right ones not."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from samesame.kernels.host.launches import capture_launches
from samesame.lift import lift, tried
from samesame.lift.draws import Held, integers, sizes_to_try
from samesame.lift.example import run_at


@triton.jit
def sum_kernel(x, out, N, TILES, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for k in range(TILES):
        c = k * BLOCK + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row * N + c, mask=c < N, other=0.0), axis=0)
    tl.store(out + row, total)


def launch_dropped_tail(M=4, N=256):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    sum_kernel[(M,)](x, out, N, N // 128, BLOCK=128)
    return out


@triton.jit
def each_kernel(x, out, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    if WHAT == "divide":
        v = v // 4
    elif WHAT == "byte":
        v = v.to(tl.int8).to(tl.int32) + 1
    elif WHAT == "sign":
        v = tl.where(v >= 0, 1.0, -1.0)
    else:
        v = tl.minimum(v, 127)
    tl.store(out + at, v.to(out.dtype.element_ty), mask=at < n)


def launch_divide(n=500):
    x = torch.randint(0, 100, (n,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(x)
    each_kernel[(triton.cdiv(n, 128),)](x, out, n, WHAT="divide", BLOCK=128)
    return out


def launch_byte(n=500):
    x = torch.randint(0, 100, (n,), device="cuda", dtype=torch.uint8)
    out = torch.empty(n, device="cuda", dtype=torch.int32)
    each_kernel[(triton.cdiv(n, 128),)](x, out, n, WHAT="byte", BLOCK=128)
    return out


def launch_sign(n=500):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    each_kernel[(triton.cdiv(n, 128),)](x, out, n, WHAT="sign", BLOCK=128)
    return out


def launch_narrow(n=500):
    x = torch.randint(-100, 100, (n,), device="cuda", dtype=torch.int16)
    out = torch.empty(n, device="cuda", dtype=torch.int8)
    each_kernel[(triton.cdiv(n, 128),)](x, out, n, WHAT="narrow", BLOCK=128)
    return out


@triton.jit
def decay_kernel(x, out, N, DECAY: tl.constexpr):
    row = tl.program_id(0)
    h = 0.0
    for k in range(N):
        h = DECAY * h + tl.load(x + row * N + k)
        tl.store(out + row * N + k, h)


def launch_decay(M=3, N=20):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    decay_kernel[(M,)](x, out, N, DECAY=0.9)
    return out


def launch_short_decay(M=3, N=6):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    decay_kernel[(M,)](x, out, N, DECAY=0.9)
    return out


def decayed(x, by=0.9):
    found = [x[:, 0]]
    for k in range(1, x.shape[1]):
        found.append(by * found[-1] + x[:, k])
    return torch.stack(found, 1)


@triton.jit
def sort_kernel(x, out, N, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(x + c, mask=c < N, other=float("inf"))
    tl.store(out + c, tl.sort(v), mask=c <= N)


def launch_sort(N=50):
    x = torch.randn(N, device="cuda")
    out = torch.empty_like(x)
    sort_kernel[(1,)](x, out, N, BLOCK=64)
    return out


WRONG = {
    launch_dropped_tail: lambda x: x.sum(dim=1),
    launch_divide: lambda x: x // 4,
    launch_byte: lambda x: x.to(torch.int32) + 1,
    launch_sign: torch.sign,
    launch_narrow: lambda x: x.clamp(-128, 127).to(torch.int8),
    launch_decay: lambda x: decayed(x, 0.8),
}


def reference_of(launch):
    return lambda x: WRONG[launch](x)


@pytest.mark.parametrize("launch", WRONG)
def test_a_wrong_kernel_is_violated_with_a_case(launch) -> None:
    verdict = lift(launch, reference_of(launch))
    assert (verdict.against, verdict.verdict) == ("different", "violated"), verdict.against_detail
    case = verdict.against_counterexample
    assert case["replayed"] == "yes" and case["run"]["interpreter"] != case["run"]["torch"]
    assert not any(isinstance(value, dict) and "x" in value for value in case.values()), "no tensors in a case"


def test_an_access_out_of_bounds_of_a_kernel_that_is_not_supported_is_seen() -> None:
    verdict = lift(launch_sort)
    (found,) = [o for o in verdict.kernels[0].obligations if o.state == "violated"]
    assert found.name == "bounds" and found.counterexample["replayed"] == "yes" and ".py:" in found.place


def test_a_right_kernel_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)
    verdict = lift(launch_short_decay, lambda x: decayed(x))
    assert (verdict.against, verdict.verdict) == ("same", "verified")


def test_numbers_that_are_stated_are_kept_to() -> None:
    """With -100 ≤ x ≤ 100 nothing wraps around, and dividing as C does is no fault of what is not below zero."""
    assert lift(launch_narrow, reference_of(launch_narrow), assume=["-100 <= x <= 100"]).against != "different"
    assert lift(launch_divide, reference_of(launch_divide), assume=["x >= 0"]).against != "different"


def test_tensors_come_out_at_the_sizes_that_are_asked_for() -> None:
    """A size may become what another one was in the example."""
    captured = capture_launches(launch_decay)
    run = run_at(launch_decay, None, captured, {"M": 20, "N": 3})
    assert tuple(run.inputs["x"].shape) == (20, 3) and not run.faults
    run = run_at(launch_decay, None, captured, {"M": 2, "N": 3})
    assert tuple(run.inputs["x"].shape) == (2, 3) and not run.faults


def launch_written_down():
    x = torch.randn(3, 20, device="cuda")
    out = torch.empty_like(x)
    decay_kernel[(x.shape[0],)](x, out, x.shape[1], DECAY=0.9)
    return out


def test_sizes_that_are_written_down_are_replaced_where_they_stand() -> None:
    captured = capture_launches(launch_written_down)
    names = {n: name for name, n in captured.sizes.items()}
    run = run_at(launch_written_down, None, captured, {names[3]: 2, names[20]: 7})
    assert tuple(run.inputs["x"].shape) == (2, 7) and not run.faults


def test_sizes_lie_around_tiles_and_keep_the_conditions() -> None:
    found = list(sizes_to_try({"M": 4, "N": 100}, [], [64]))
    assert found[0] == {"M": 4, "N": 100} and {63, 64, 65, 129} <= {sizes["N"] for sizes in found}
    capped = list(sizes_to_try({"M": 4, "N": 100}, [], [128], capped=True))
    assert max(sizes["N"] for sizes in capped) == 128


def test_integers_come_from_the_ends_of_what_they_may_be() -> None:
    import numpy as np

    random = np.random.default_rng(0)
    assert {-128, 127, -1} <= set(integers(random, [999], {}, 1, None, "int8").tolist())
    assert {0, 255, 128} <= set(integers(random, [999], {}, 1, None, "uint8").tolist())
    assert set(integers(random, [99], {}, 0, Held(0, 4, (-100,)), "int64").tolist()) == {-100, 0, 1, 2, 3, 4}
    assert sorted(integers(random, [5], {}, 0, Held(0, 4, (), True), "int64").tolist()) == [0, 1, 2, 3, 4]
