"""Rules that `check` has proved and a store keeps are rewrites, as exact as their label says, on tensors they fit."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

from samesame import check
from samesame.evidence import SamesameError
from samesame.fuzz.judge import in_float64, seen
from samesame.fuzz.learnt import learnt, rewrites
from samesame.fuzz.oracle import compare
from samesame.fuzz.program import Input, Program, Ref, Step
from samesame.fuzz.twins import twin_of
from samesame.store import Store
from samesame.versions import versions


def left(x, w):
    return torch.softmax(x @ w, -1), torch.rsqrt(x * x + 1)


def right(x, w):
    e = torch.exp(x @ w - (x @ w).amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True), 1 / torch.sqrt(x**2 + 1)


def binomial(x, y):
    return (x + y) ** 2


def multiplied_out(x, y):
    return x**2 + x * y * 2 + y**2


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("learnt") / "rules.sqlite"
    prover, semantics = versions()
    with Store.open(path, prover=prover, semantics=semantics) as kept:
        assert check(left, right, (torch.randn(3, 4), torch.randn(4, 5)), store=kept)
        assert check(binomial, multiplied_out, (torch.randn(3, 4), torch.randn(3, 4)), store=kept)
    return str(path)


def of(*shape) -> list[Program]:
    """Both sides of the binomial as programs over tensors of a shape."""
    given = tuple(Input(name, f"torch.linspace(-2, {end}, 12).reshape({shape})") for name, end in (("x", 2), ("y", 3)))
    total = Step(("a",), "torch.add", (Ref("x"), Ref("y"))), Step(("o",), "torch.pow", (Ref("a"), 2))
    parts = ["p pow x 2", "q mul x y", "r mul q 2", "s pow y 2", "t add p r", "o add t s"]
    steps = []
    for name, call, *args in map(str.split, parts):
        steps.append(Step((name,), f"torch.{call}", tuple(2 if a == "2" else Ref(a) for a in args)))
    return [Program(given, total, ("o",)), Program(given, tuple(steps), ("o",))]


def test_what_was_proved_of_blocks_is_a_rewrite_in_both_directions(store):
    found = learnt(store)
    assert len(found) >= 4 and len({rule.name for rule in found}) == len(found)
    for program in of(3, 4):
        twins = [twin_of(program, random.Random(seed), found) for seed in range(12)]
        by_learnt = [twin for twin in twins if twin and any(name.startswith("learnt-") for name in twin.rules)]
        assert by_learnt and not any(twin.exact for twin in by_learnt), "proved over the reals"
        for twin in by_learnt:
            eager, other, wide = seen(program), seen(twin.program), in_float64(program)
            assert not [d for d in compare(eager, other, wide) if d.kind.startswith("wrong value")]


def test_a_rule_is_for_the_sizes_and_the_evidence_it_has(store):
    prover, semantics = versions()
    with Store.open(store, prover=prover, semantics=semantics) as kept:
        entry = next(entry for entry in kept.all() if rewrites(entry))
    assert not rewrites(replace(entry, stale=True))
    assert not rewrites(replace(entry, evidence=entry.evidence | {"conditions": ["s0 > 3"]}))
    assert not rewrites(replace(entry, evidence=entry.evidence | {"rung": "proved at these sizes"}))
    twins = [twin_of(program, random.Random(seed), learnt(store)) for seed in range(9) for program in of(12)]
    assert not any(name.startswith("learnt-") for twin in twins if twin for name in twin.rules), "proved of two dims"


def test_a_store_that_is_not_there_is_one_sentence():
    with pytest.raises(SamesameError, match=r"there is no store nowhere\.sqlite; `samesame check --store"):
        learnt("nowhere.sqlite")
