"""A kernel has so much time and no more; what runs out of it is undecided, and nothing is proved by running out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import z3

pytest.importorskip("triton")

from kernel_corpus import target
from samesame.evidence import Refused
from samesame.formula.equal import NotProved
from samesame.formula.expr import Fold, Leaf, Load, Size, add, exp, index, maximum, mul, power
from samesame.kernels import clock
from samesame.kernels.formulas import textbook
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.loops import synthesis
from samesame.kernels.verdict import Obligation
from samesame.lift import KernelVerdict, LiftVerdict, Settings, attempts, lift, names
from samesame.lift.attempts import Shared, in_time
from samesame.lift.program import Attempt

SENTENCE = "do not get simple in {} seconds; give more with --timeout"
PARTS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


class Ticking:
    """A clock on which each look takes a second, so that when the time ends does not depend on the machine."""

    def __init__(self) -> None:
        self.now = 0

    def thread_time(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    found = Ticking()
    monkeypatch.setattr(clock, "time", found)
    return found


def test_attempts_after_the_first_share_the_time_that_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(thread_time=lambda: now.at, at=0.0)
    monkeypatch.setattr(clock, "time", now)
    monkeypatch.setattr(attempts, "time", now)
    two = SimpleNamespace(launches=["one kernel", "another"])
    shared = Shared(attempts.LEAST + 40, began=0.0)
    with shared.attempt(two):
        assert clock.left() == math.inf                   # each kernel has its own limit
    now.at = 150.0
    with shared.attempt(two):
        assert clock.left() == 2 * (attempts.LEAST + 40) - 150
    assert not shared.note()
    now.at = 500.0
    assert in_time(lambda: shared.attempt(two).__enter__()) is None
    assert shared.note()


def test_no_attempt_is_begun_when_the_time_of_all_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    target_of_several = f"{Path(__file__).parents[1] / 'launches' / 'bits.py'}:launch_banned"
    assert lift(target_of_several).verdict == "verified"   # as `rows` are distinct in the example
    monkeypatch.setattr(attempts, "time", SimpleNamespace(thread_time=lambda: 1e9))
    found = lift(target_of_several)
    assert found.verdict == "undecided" and "Not all contracts were tried" in found.notes[-1]


def test_a_limit_inside_another_ends_no_later(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(thread_time=lambda: now.at, at=0.0)
    monkeypatch.setattr(clock, "time", now)
    assert clock.left() == math.inf
    with clock.limited(10):
        now.at = 6.0
        with clock.limited(10):
            assert clock.left() == 4
        with clock.limited(1):
            assert clock.left() == 1
            now.at = 8.0
            assert clock.left() == 0
        clock.look()
        now.at = 11.0
        with clock.limited(5), pytest.raises(Refused, match=SENTENCE.format(10)):
            clock.look()
    clock.look()


def test_a_question_is_bounded_by_the_solvers_own_count_and_by_no_clock_but_the_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[dict[str, int]] = []
    real = z3.Solver.check

    def heard(solver: z3.Solver, *assumptions: object) -> object:
        told.append(limits.pop(solver))
        return real(solver, *assumptions)

    limits: dict[z3.Solver, dict[str, int]] = {}
    setting = z3.Solver.set

    def set_(solver: z3.Solver, name: str, value: int) -> None:
        limits.setdefault(solver, {})[name] = value
        setting(solver, name, value)

    monkeypatch.setattr(z3.Solver, "check", heard)
    monkeypatch.setattr(z3.Solver, "set", set_)
    (one,) = lift(target("welford"), settings=Settings(seconds=3600)).kernels
    assert one.verdict == "verified" and len(told) > 20
    assert all(0 < each["rlimit"] <= 10_000_000 and each["timeout"] > 1_000 for each in told)


def test_a_question_ends_after_so_much_work() -> None:
    """Whether a number is a product of two others that are greater than one: a question for long."""
    prover = IndexProver()
    x, y = (z3.Int(name, prover.context) for name in "xy")
    solver = z3.Solver(ctx=prover.context)
    solver.add(x > 1, y > x, x * y == 1000003 * 1000033 * 999983)
    assert prover.checked(solver, 100_000) == z3.unknown
    assert not prover.exhausted and prover.proves((), integers.at_most(0, integers.times_(Size("n", 1), Size("m", 1))))


def test_simplifying_ends_where_nothing_is_asked(ticking: Ticking) -> None:
    a, b = (Load(Leaf(name, ()), ()) for name in "ab")
    deep = a
    for _ in range(20):
        deep = add(maximum(deep, b), a)
    prover = IndexProver()
    with clock.limited(10), pytest.raises(Refused, match=SENTENCE.format(10)):
        Simplifier(prover)(deep)
    assert not prover.queries


def test_the_textbook_form_takes_a_part_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    x, n = Leaf("x", (Size("n", 1),)), Size("n", 1)
    i, j, k = index(n), index(n), index(n)
    most = Fold("max", (k,), Load(x, (k,)))
    parts = [exp(add(Load(x, (v,)), mul(-1, most))) for v in (i, j)]
    given: list[float] = []

    def hopeless(*_: object, budget: textbook.Budget) -> NotProved:
        given.append(budget.seconds)
        return NotProved("no time")

    monkeypatch.setattr(textbook, "prove_equal", hopeless)
    softmax = mul(parts[0], power(Fold("sum", (j,), parts[1]), -1))
    with clock.limited(2.0):
        assert textbook.textbook(softmax) is softmax
    assert given and max(given) <= textbook.SHARE * 2.0


def test_without_time_nothing_has_a_name() -> None:
    i = index(Size("n", 1))
    copied = Load(Leaf("x", (Size("n", 1),)), (i,))
    assert names.name_of((i,), copied) == "copy"
    with clock.limited(0.0):
        assert names.name_of((i,), copied) == ""


def lifted(kernel: str, seconds: float) -> KernelVerdict:
    (one,) = lift(target(kernel), settings=Settings(seconds=seconds)).kernels
    return one


@pytest.mark.parametrize(("kernel", "parts"), [("softmax", PARTS[1::2]), ("running_variance", PARTS)])
def test_whenever_the_time_ends_it_is_said(kernel: str, parts: Sequence[float], ticking: Ticking) -> None:
    """Also where a search ends for want of time: that is no reason to say that there is no closed form."""
    whole = lifted(kernel, math.inf)
    looks = ticking.now
    assert whole.verdict == "verified"
    for part in parts:
        one = lifted(kernel, int(part * looks))
        if one.verdict == "verified":
            continue
        assert one.verdict == "undecided"
        assert one.unsupported == [] or all("--timeout" in sentence for sentence in one.unsupported)
        proved = [o for o in one.obligations if o.state == "proved"]
        assert not proved or set(whole.demands) <= set(one.preconditions), "what is proved holds under conditions"


def test_a_search_that_time_ends_is_no_search_in_vain(ticking: Ticking, monkeypatch: pytest.MonkeyPatch) -> None:
    def long(bank: synthesis.Bank) -> synthesis.Bank:
        ticking.now += 1_000_000
        return synthesis.Bank(bank.pruned)

    monkeypatch.setattr(synthesis, "grown", long)
    (sentence,) = lifted("running_variance", 500_000).unsupported
    assert sentence.endswith(SENTENCE.format(500000))


def test_an_attempt_that_ran_out_of_time_is_no_better_than_one_that_left_something_open() -> None:
    """Of a kernel that is not read no obligation is stated, and so none is open."""
    open_ones = [Obligation("coverage", "proved"), Obligation("value", "undecided")]
    left_open, unread = KernelVerdict("k", obligations=open_ones), KernelVerdict("k", unsupported=["no time is left"])
    some, none = (Attempt(None, LiftVerdict("f"), launched=[(k, None)]) for k in (left_open, unread))
    assert some.rank > none.rank
