"""Twins by an e-graph: a program as terms, all rules at once, and out comes any of the many programs that are equal.

A step that `words` knows is a term that rules may rewrite; any other is an opaque operator over its arguments, which
may be rewritten. The e-graph then holds very many equal programs. Which one is taken is up to dice: every operator has
a random price, and the cheapest program for these prices is as a rule no end of any direction but somewhere between.
Only programs that write nothing in place and look at no strides are rewritten here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from samesame.egraph import Budget, EGraph, Rule, RuleUse
from samesame.fuzz.program import Line, Program, Ref, Step, changed, refs_in, run_step
from samesame.fuzz.rules import EXACT, FINITE, INTEGERS, LABELS, REAL, Type
from samesame.fuzz.words import WORDS, WORDS_OF

ROOM, SHARE = 300, 4         # nodes of the e-graph: so many, and so many for each step
LONGER = 60                  # steps more than the program that a twin may have
MODERATE = 1e3               # the largest number for which a rewrite over the reals is tried
LAYOUT = ("as_strided", ".view", "stride", "resize", "set_", "storage")    # calls that look at how memory lies

Values = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Twin:
    """The rewritten program, the rules that led to it, and whether it is equal bit for bit."""

    program: Program
    rules: tuple[str, ...]
    exact: bool


def is_pure(program: Program) -> bool:
    """Whether it writes nothing, has no lines that hold others, and does not ask how memory lies."""
    straight = all(isinstance(line, Step) and line.results for line in program.steps)
    return straight and not program.writes and not any(word in call for call in program.calls for word in LAYOUT)


def rewritten(program: Program, dice: random.Random, learnt: Sequence[Rule] = ()) -> Twin | None:
    """An equal program that dice choose, by rules learnt elsewhere too; None where there is none but itself."""
    values = program.values()
    if any(value.is_complex() for value in values.values()):
        return None                                  # rules are of real numbers: |x| is no maximum of x and −x there
    graph, known = as_terms(program, values)
    roots = [known[name] for name in program.outputs]
    budget = Budget(nodes=ROOM + SHARE * len(program), iterations=3, seconds=2.0, matches=40)
    graph.saturate(rules_for(floats_of(values), learnt), budget)
    prices: dict[Any, float] = {}

    def price(operator: str, attributes: Any, below: Any, type: Any) -> float:
        return prices.setdefault((operator, repr(attributes), below), 10 ** dice.uniform(-2, 1))

    terms = graph.extract(roots, price).terms
    steps, outputs = as_steps(graph, terms, program)
    uses = [step.reason for root, term in zip(roots, terms, strict=True) for step in graph.explain(root, term).steps]
    names = tuple(dict.fromkeys(use.rule for use in uses if isinstance(use, RuleUse)))
    if not names or len(steps) > len(program) + LONGER:
        return None
    exact = {LABELS.get(name, "real") for name in names} <= {"exact", "finite"} or not floats_of(values)
    return Twin(Program(program.inputs, tuple(steps), tuple(outputs)), names, exact)


def floats_of(values: Values) -> list[torch.Tensor]:
    return [value for value in values.values() if value.is_floating_point() or value.is_complex()]


def rules_for(floats: list[torch.Tensor], learnt: Sequence[Rule]) -> list[Rule]:
    """The rules whose label a program with these floats allows."""
    finite = all(bool(torch.isfinite(value).all()) for value in floats)
    moderate = finite and all(value.numel() == 0 or float(value.abs().max()) < MODERATE for value in floats)
    over_reals = (*learnt, *INTEGERS, *REAL) if moderate else ()                  # few, before the room is full
    return [*over_reals, *EXACT, *(FINITE if finite else ())]


def as_terms(program: Program, values: Values) -> tuple[EGraph, dict[str, int]]:
    """The program in an e-graph, and the term of each value by its name."""
    graph = EGraph(type_of)
    known = {given.name: graph.add(f"input {given.name}", type=_type(values[given.name])) for given in program.inputs}
    for number, step in enumerate(program.steps):
        assert isinstance(step, Step)
        below = tuple(known[name] for name in (*refs_in(step.args), *refs_in(step.kwargs)))
        word = word_of(step, lambda name: values[name].dim())
        if word is not None and _tells(word, tuple(map(graph.type, below)), _type(values[step.results[0]])):
            known[step.results[0]] = graph.add(*word, below)
            continue
        whole = graph.add(f"step {number}", (), below, type=f"step {number}")
        for k, name in enumerate(step.results):
            known[name] = graph.add("result", (k,), (whole,), type=_type(values[name]))
    return graph, known


def word_of(step: Step, rank: Callable[[str], int]) -> tuple[str, tuple[Any, ...]] | None:
    """The word that a step is, with its attributes; `rank` gives that of a value by its name."""
    for word in () if step.unpacked or len(step.results) != 1 else WORDS_OF.get(step.call, ()):
        attributes = word.attributes(step, rank)
        if attributes is not None:
            return word.name, tuple(a if not isinstance(a, torch.dtype) else _name(a) for a in attributes)
    return None


def _tells(word: tuple[str, tuple[Any, ...]], below: tuple[Any, ...], type: Type) -> bool:
    """Whether torch says of a word, without computing anything, what its type is; of some it does not."""
    try:
        return type_of(*word, below) == type
    except (RuntimeError, TypeError, IndexError):
        return False


def as_steps(graph: EGraph, terms: tuple[int, ...], program: Program) -> tuple[list[Line], list[str]]:
    """Steps that compute the terms, and the names of their results."""
    steps: list[Line] = []
    names: dict[int, list[str]] = {}

    def name_of(term: int) -> list[str]:
        if term not in names:
            operator, attributes, arguments = graph.application(term)
            below = [name_of(argument) for argument in arguments]
            if operator.startswith("input "):
                names[term] = [operator.removeprefix("input ")]
            elif operator == "result":
                names[term] = [below[0][int(str(attributes[0]))]]
            else:
                names[term] = [f"t{len(names)}"]
                firsts = [names_below[0] for names_below in below]
                if operator.startswith("step "):
                    step = program.steps[int(operator.removeprefix("step "))]
                    assert isinstance(step, Step)
                    names[term] = [f"t{len(names)}_{k}" for k in range(len(step.results))]
                    steps.append(_with_arguments(step, names[term], firsts))
                else:
                    read = tuple(getattr(torch, a) if isinstance(a, str) else a for a in attributes)
                    steps.append(WORDS[operator].step(names[term][0], firsts, read))
        return names[term]

    return steps, [name_of(term)[0] for term in terms]


def _with_arguments(step: Step, results: list[str], names: list[str]) -> Line:
    """An opaque step over other values."""
    left, made = iter(names), iter(results)
    return changed(step, lambda leaf: Ref(next(left)) if isinstance(leaf, Ref) else leaf, lambda _: next(made))


def _type(value: torch.Tensor) -> Type:
    return Type(tuple(value.shape), _name(value.dtype))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@cache
def type_of(operator: str, attributes: tuple[Any, ...], below: tuple[Any, ...]) -> Type | None:
    """The type of a word's result, as torch says it without computing anything; None for what is opaque."""
    word = WORDS.get(operator)
    if word is None:
        return None
    read = tuple(getattr(torch, a) if isinstance(a, str) else a for a in attributes)
    made = {f"x{k}": torch.empty(t.shape, dtype=getattr(torch, t.dtype), device="meta") for k, t in enumerate(below)}
    return _type(run_step(word.step("y", list(made), read), made))
