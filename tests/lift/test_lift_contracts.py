"""Contracts: what a user says of a launch is checked on the example, used by proofs, and printed with the verdict."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl
from typer.testing import CliRunner

from samesame.cli import app
from samesame.evidence import Refused
from samesame.kernels.host.launches import capture_launches
from samesame.lift import lift
from samesame.lift.example import run_at


@triton.jit
def cache_kernel(key, slots, cache, D, SHARE: tl.constexpr, SKIP: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    slot = tl.load(slots + t) // SHARE
    if SKIP and slot < 0:
        return
    d = tl.arange(0, BLOCK)
    tl.store(cache + slot * D + d, tl.load(key + t * D + d, mask=d < D), mask=d < D)


def launch_cache(T=6, S=20, D=24):
    key = torch.randn(T, D, device="cuda")
    slots = torch.randperm(S, device="cuda")[:T]
    cache = torch.zeros(S, D, device="cuda")
    cache_kernel[(T,)](key, slots, cache, D, SHARE=1, SKIP=False, BLOCK=32)
    return cache


def launch_shared(T=6, S=20, D=24):
    key = torch.randn(T, D, device="cuda")
    slots = torch.randperm(S, device="cuda")[:T]
    cache = torch.zeros(S, D, device="cuda")
    cache_kernel[(T,)](key, slots, cache, D, SHARE=2, SKIP=False, BLOCK=32)
    return cache


def launch_padded(T=6, S=20, D=24):
    key = torch.randn(T, D, device="cuda")
    slots = torch.randperm(S, device="cuda")[:T]
    slots[1] = -1
    slots[4] = -1
    cache = torch.zeros(S, D, device="cuda")
    cache_kernel[(T,)](key, slots, cache, D, SHARE=1, SKIP=True, BLOCK=32)
    return cache


@triton.jit
def pairs_kernel(x, out, N, BLOCK: tl.constexpr):
    row, h = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    keep = h < N // 2
    a = tl.load(x + row * N + 2 * h, mask=keep)
    b = tl.load(x + row * N + 2 * h + 1, mask=keep)
    tl.store(out + row * N + 2 * h, a - b, mask=keep)
    tl.store(out + row * N + 2 * h + 1, a + b, mask=keep)


def launch_pairs(M=5, N=42):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    pairs_kernel[(M, triton.cdiv(N, 32))](x, out, N, BLOCK=16)
    return out


@triton.jit
def halves_kernel(x, out, K, N, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + row * K + c, mask=c < N)
    b = tl.load(x + row * K + N + c, mask=c < N)
    tl.store(out + row * N + c, a * b, mask=c < N)


def launch_halves(M=5, N=40, K=80):
    x = torch.randn(M, K, device="cuda")
    out = torch.empty(M, N, device="cuda")
    halves_kernel[(M, triton.cdiv(N, 32))](x, out, K, N, BLOCK=32)
    return out


def halves(x):
    a, b = x.chunk(2, dim=1)
    return a * b


@triton.jit
def pick_kernel(logits, labels, out, V):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    picked = 0.0
    if label != -100:
        picked = tl.load(logits + row * V + label)
    tl.store(out + row, picked)


def launch_pick(T=9, V=50):
    logits = torch.randn(T, V, device="cuda")
    labels = torch.randint(0, V, (T,), device="cuda")
    labels[3] = -100
    out = torch.empty(T, device="cuda")
    pick_kernel[(T,)](logits, labels, out, V)
    return out


def test_rows_go_to_distinct_slots() -> None:
    (kernel,) = lift(launch_cache, assume=["distinct(slots)"]).kernels
    assert kernel.verdict == "verified"
    assert "distinct(slots)" in kernel.headline and "distinct(slots)" in kernel.demands and "D ≤ 32" in kernel.headline
    rows = "Σ_{k<T} {key[k, j] if slots[k] = i else 0}"
    assert kernel.formulas[0].text == f"cache[i, j] = {{{rows} if ⋁_{{k<T}} (slots[k] = i) else 0}}"


@pytest.mark.parametrize("assume", [[], ["0 <= slots < S"]])
def test_slots_that_are_distinct_in_the_example_are_a_need(assume) -> None:
    (kernel,) = lift(launch_cache, assume=assume).kernels
    assert kernel.verdict == "verified" and "distinct(slots)" in kernel.headline


def test_padding_is_left_out_of_what_is_distinct() -> None:
    (kernel,) = lift(launch_padded, assume=["distinct(slots[slots >= 0])"]).kernels
    assert "race" not in {o.name for o in kernel.obligations if o.state != "proved"}
    assert "distinct(slots[slots >= 0])" in kernel.preconditions
    with pytest.raises(Refused, match=r"distinct\(slots\)' does not hold in the example: slots\[4\] = -1"):
        lift(launch_padded, assume=["distinct(slots)"])


@pytest.mark.parametrize(
    "launch, assume",
    [
        (launch_cache, ["distinct(slots[slots < 3])"]),
        (launch_shared, ["distinct(slots)"]),
        (launch_padded, ["distinct(slots[slots > 0])"]),
    ],
)
def test_slots_that_may_meet_are_not_verified(launch, assume) -> None:
    (kernel,) = lift(launch, assume=assume).kernels
    assert kernel.verdict != "verified"
    assert "race" in {o.name for o in kernel.obligations if o.state != "proved"}


def test_sizes_are_even_where_that_is_stated() -> None:
    (kernel,) = lift(launch_pairs, assume=["N % 2 == 0"]).kernels
    assert kernel.verdict == "verified" and "N mod 2 = 0" in kernel.headline
    for assume in ([], ["N % 3 == 0"], ["N > 2"]):                 # it is found where it is not stated
        (kernel,) = lift(launch_pairs, assume=assume).kernels
        assert kernel.verdict == "verified" and "N mod 2 = 0" in kernel.headline, assume
    assert lift(partial(launch_pairs, N=41)).verdict == "violated"


def test_a_size_may_be_told_by_another() -> None:
    verdict = lift(launch_halves, halves, assume=["K == 2 * N"])
    (kernel,) = verdict.kernels
    assert kernel.verdict == "verified" and "K = 2·N" in kernel.headline
    assert verdict.against == "same" and "if all that is needed holds" in verdict.against_headline
    assert "2·N ≤ K" in lift(launch_halves, assume=["K >= N"]).kernels[0].headline


def test_a_range_that_is_stated_is_printed_as_it_is() -> None:
    (kernel,) = lift(launch_pick, assume=["0 <= labels < V or labels == -100"]).kernels
    assert kernel.verdict == "verified"
    assert kernel.preconditions.count("0 ≤ labels[…] < V or labels[…] = -100") == 1
    (kernel,) = lift(launch_pick, assume=["-100 <= labels < V"]).kernels
    assert "-100 ≤ labels[…] < V" in kernel.headline and "0 ≤ labels[…] < V or labels[…] = -100" in kernel.headline


@pytest.mark.parametrize(
    "contract, sentence",
    [
        ("0 <= labels < V", "does not hold in the example: labels\\[3\\] = -100"),
        ("V == 51", "does not hold in the example"),
        ("V > 50 and T > 1", "does not hold in the example"),
        ("W > 1", "W names no size and no tensor of the launch"),
        ("logits > 1", "logits is a tensor of float32, not of integers; of its elements only 0 < logits can be said"),
        ("labels <= logits", "relates the elements of labels and logits"),
        ("__import__('os').getcwd() == V", "is no whole number"),
        ("[V for V in ()]", "says nothing that could hold"),
        ("V", "says nothing that could hold"),
        ("V ==", "no Python expression"),
        ("V % 0 == 0", "divides by zero"),
        ("V in labels", "only <, <=, >, >=, == and != compare"),
        ("labels != 3", "is no range"),
        ("labels % 2 == 0", "does not compare an element of labels with a number"),
        ("labels.shape[1] == 3", "has none with the number 1"),
        ("distinct(V)", "V is a number, and no tensor"),
        ("distinct(labels + 1)", "write distinct"),
        ("-100 <= labels and labels < V", "about one tensor; make them one"),
        ("9" * 2000, "longer than"),
        ("V == " + "(" * 400 + "1" + ")" * 400, "no Python expression|nested too deeply"),
    ],
)
def test_what_is_no_contract_is_refused_in_a_sentence(contract, sentence) -> None:
    with pytest.raises(Refused, match=sentence) as refused:
        lift(launch_pick, assume=[contract])
    assert "\n" not in str(refused.value)


def launch_beside(M=5, N=40):
    return launch_halves(M, N, 2 * N)


launch_beside.assume = ["N % 8 == 0"]


def test_contracts_stand_beside_the_launch_function() -> None:
    (kernel,) = lift(f"{__file__}:launch_beside").kernels
    assert kernel.verdict == "verified" and "N mod 8 = 0" in kernel.headline
    with pytest.raises(Refused, match=r"'N % 2 == 1' does not hold in the example"):
        lift(launch_beside, assume=["N % 2 == 1"])


@pytest.mark.parametrize("said", ["N % 2 == 0", 3, [2]])
def test_what_stands_beside_the_launch_function_is_a_list_of_contracts(said, monkeypatch) -> None:
    monkeypatch.setattr(launch_beside, "assume", said)
    with pytest.raises(Refused, match="give a list of contracts"):
        lift(launch_beside)


def test_a_broken_contract_is_a_usage_error() -> None:
    found = CliRunner().invoke(app, ["lift", f"{__file__}:launch_pick", "--assume", "V == 51"])
    assert found.exit_code == 2


def test_contracts_on_sizes_are_branches_of_the_host_code() -> None:
    captured = capture_launches(launch_halves, assume=["K == 2 * N", "N % 8 == 0"])
    assert captured.with_tied({"N": 48}) == {"N": 48, "K": 96}
    assert len(captured.contracts) == 2


def launch_drawn_slots(T=6, S=4000, D=24):
    """Slots that differ in the example, and not where there are few."""
    key = torch.randn(T, D, device="cuda")
    slots = torch.randint(0, S, (T,), device="cuda")
    cache = torch.zeros(S, D, device="cuda")
    cache_kernel[(T,)](key, slots, cache, D, SHARE=2, SKIP=False, BLOCK=32)
    return cache


def test_a_run_that_breaks_a_contract_shows_nothing() -> None:
    captured = capture_launches(launch_drawn_slots, assume=["distinct(slots)"])
    run_at(launch_drawn_slots, None, captured, {})
    with pytest.raises(Refused, match="keep the contract 'distinct"):
        run_at(launch_drawn_slots, None, captured, {"S": 2})


def test_a_contract_on_integers_holds_until_somebody_changes_them() -> None:
    file = Path(__file__).parent.parent / "launches" / "changed_lengths.py"
    found = lift(f"{file}:launch", f"{file}:reference", assume=["1 <= lengths"])
    assert found.against != "same"
    assert not any("1 ≤ lengths" in need for need in found.kernels[1].preconditions)
