"""Every rewrite is as exact as its label says, on values of every dtype; whole twins are equal to their programs."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
import torch

from samesame.egraph import Budget
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.values import DTYPES, any_tensor
from samesame.fuzz.oracle import apart, compare, observe
from samesame.fuzz.program import Input, Program, Ref, Step, run_step, source
from samesame.fuzz.rules import EXACT, FINITE, INTEGERS, LABELS, REAL
from samesame.fuzz.terms import as_terms
from samesame.fuzz.twins import RESPELLINGS, twin_of
from samesame.fuzz.undefined import leaves_open
from samesame.fuzz.words import WORDS

TABLES = {"exact": EXACT, "integers": INTEGERS, "real": REAL, "finite": FINITE}
X, Y, Z = Ref("x"), Ref("y"), Ref("z")
# Programs of one or two words for each rule that needs more than one word on its left side.
SEEDS = [
    [Step(("a",), "torch.neg", (X,)), Step(("o",), "torch.abs", (Ref("a"),))],
    [Step(("a",), "torch.transpose", (X, 0, 1)), Step(("b",), "torch.relu", (Ref("a"),)),
     Step(("o",), "torch.transpose", (Ref("b"), 0, 1))],
    [Step(("a",), "torch.transpose", (X, 0, 1)), Step(("o",), "torch.transpose", (Ref("a"), 0, 1))],
    [Step(("a",), "torch.cat", ([X, Y], 0)), Step(("o",), "torch.sign", (Ref("a"),))],
    [Step(("a",), "torch.add", (X, Y)), Step(("o",), "torch.add", (Ref("a"), Z))],
    [Step(("a",), "torch.mul", (X, Y)), Step(("o",), "torch.mul", (Ref("a"), Z))],
    [Step(("a",), "torch.add", (X, Y)), Step(("o",), "torch.mul", (Ref("a"), Z))],
    [Step(("a",), "torch.add", (X, Y)), Step(("o",), "torch.sum", (Ref("a"), 0))],
    [Step(("a",), "torch.transpose", (Z, 0, 1)), Step(("b",), "torch.add", (X, Y)),
     Step(("o",), "torch.matmul", (Ref("b"), Ref("a")))],
    [Step(("c",), "torch.lt", (X, Y)), Step(("o",), "torch.where", (Ref("c"), X, Y))],
    [Step(("a",), "torch.sigmoid", (X,)), Step(("o",), "torch.rsqrt", (Ref("a"),))],
    [Step(("o",), "torch.add", (X, X))], [Step(("o",), "torch.sub", (X, X))],
    [Step(("o",), "torch.add", (X, 3))], [Step(("o",), "torch.mul", (X, 2))], [Step(("o",), "torch.mul", (X, 0.5))],
]  # fmt: skip


@cache
def programs() -> list[Program]:
    """Each word, and each seed, on values of each dtype, ordinary and extreme."""
    found = []
    for dtype in dict.fromkeys(DTYPES):
        for k, mood in enumerate(("ordinary", "mixed")):
            dice = random.Random(f"{dtype}{k}")
            given = tuple(Input(name, any_tensor(dice, (3, 9), dtype, mood)) for name in "xyz")
            for word in WORDS.values():
                if word.tensors is not None and word.tensors > 0:
                    attributes = tuple({"dim": 1, "number": 2, "bool": k % 2 == 0}.get(g.kind) for g in word.given)
                    if None not in attributes:
                        found.append(Program(given, (word.step("o", list("xyz")[: word.tensors], attributes),), ("o",)))
            found += [Program(given, tuple(steps), ("o",)) for steps in SEEDS]
    return found


@pytest.mark.parametrize("label", TABLES)
def test_every_rule_is_as_exact_as_its_label_says(label):
    used = Counter[str]()
    for program in programs():
        try:
            values = program.values()
        except RuntimeError:                     # torch has no such operator for this dtype
            continue
        floats = [v for v in values.values() if v.is_floating_point()]
        if floats and label != "exact" and not all(bool((v.abs() < 1e3).all()) for v in floats):
            continue
        graph, _ = as_terms(program, values)
        operators = {graph.application(term)[0] for term in range(len(graph._terms))}
        for rule in (rule for rule in TABLES[label] if operators.intersection(rule.left.operators)):
            graph, known = as_terms(program, values)
            graph.saturate([rule], Budget(nodes=80, iterations=1))
            if used_rule(graph, rule.name):
                used[rule.name] += 1
                hold(graph, {known[name]: value for name, value in values.items()}, label, rule.name)
    assert [rule.name for rule in TABLES[label] if not used[rule.name]] == [], "no program here is rewritten by it"


def used_rule(graph, name: str) -> bool:
    return any(getattr(graph.edge(k)[2], "rule", "") == name for k in range(len(graph._edges)))


def hold(graph, known: dict[int, torch.Tensor], label: str, name: str) -> None:
    """Compute every term of the e-graph; the terms of a class must be equal."""
    values = dict(known)
    for term in range(len(graph._terms)):
        if term not in values:
            operator, attributes, arguments = graph.application(term)
            read = tuple(getattr(torch, a) if isinstance(a, str) else a for a in attributes)
            step = WORDS[operator].step("y", [f"v{a}" for a in arguments], read)
            values[term] = run_step(step, {f"v{a}": values[a] for a in arguments})
    for term, value in values.items():
        first = min(other for other in values if graph.find(other) == graph.find(term))
        assert same(values[first], value, label), (name, graph.term(first), graph.term(term), values[first], value)


def same(a: torch.Tensor, b: torch.Tensor, label: str) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if label in ("exact", "finite") or not a.is_floating_point():
        return not apart(a, b)
    unit = torch.finfo(a.dtype).eps
    return torch.allclose(a.double(), b.double(), rtol=64 * unit, atol=1e3 * unit)


def test_twins_compute_what_their_programs_compute():
    """Rewritten and respelled programs of all generators."""
    seen = Counter[str]()
    for seed in range(120):
        dice = random.Random(seed)
        program = GENERATORS[list(GENERATORS)[seed % len(GENERATORS)]](dice)
        twin = twin_of(program, dice)
        if twin is None or leaves_open(program):
            continue
        eager, other = (observe(p.function(), p.make_inputs, 1) for p in (program, twin.program))
        wrong = [d for d in compare(eager, other, None) if d.kind not in ("wrong strides", "wrong aliasing")]
        assert not wrong, (twin.rules, source(program), source(twin.program), wrong)
        seen.update(twin.rules)
    assert set(RESPELLINGS) <= set(seen) and len(set(seen) & set(LABELS)) > 10, seen


def test_no_rule_of_real_numbers_rewrites_complex_ones():
    made = Input("x", "torch.complex(torch.tensor([3.0, -1.0]), torch.tensor([4.0, 0.0]))")
    program = Program((made,), (Step(("y",), "torch.abs", (Ref("x"),)),), ("y",))
    for seed in range(20):
        twin = twin_of(program, random.Random(seed))
        if twin is not None:
            eager, other = (observe(p.function(), p.make_inputs, 1) for p in (program, twin.program))
            assert set(twin.rules) <= set(RESPELLINGS) and not compare(eager, other, None)
