"""Every map of axes gives kernels that are proved for all sizes and tiles; mutated ones are refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace

import pytest
import torch
from tests.optimize.compiled_programs import compile_program
from tests.optimize.programs_as_forms import (
    PROGRAMS,
    attention,
    beside_one_another,
    gated_mlp,
    low_rank,
    rms_norm_then_linear,
    tensor,
)

from samesame.formula.expr import Expr, Index, Load, add, index, mul, rebuild
from samesame.formula.tensor import Tensor
from samesame.optimize.emit.cpp import function
from samesame.optimize.emit.places import whole
from samesame.optimize.forms import fold, load, times
from samesame.optimize.ir import Accumulate, Kernel, Local, Loop, Program, Statement, Store, When, bound, statements
from samesame.optimize.partition import stages
from samesame.optimize.proving import proved
from samesame.optimize.pruning import gathers, pruned
from samesame.optimize.schedule import Scheduled, Space, alternatives
from samesame.optimize.specification import Output, Specification

EVERYTHING = 130                              # mutants, of which a tenth in the fast suite


def all_of(specification: Specification) -> Iterator[Scheduled]:
    space = Space(specification, stages(specification.outputs, specification.extents))
    for several in alternatives(space):
        yield from several


def every_map_is_proved(several: Iterable[Scheduled]) -> None:
    for scheduled in several:
        checked = scheduled.proved()
        assert checked.proved and not checked.conditions, (scheduled.map, checked.reason)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_map_is_proved(program: Callable[[], Specification]) -> None:
    every_map_is_proved(s for s in all_of(program()) if not s.map.startswith("parts"))


def test_parts_of_one_weight_are_proved_for_all_sizes() -> None:
    """A weight that is read in two parts is as long as these together, and that is no number."""
    some = beside_one_another()
    space = Space(some, stages(some.outputs, some.extents))
    assert space.numbers() == some.extents
    every_map_is_proved(s for several in alternatives(space) for s in several if not s.map.startswith("parts"))


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_map_in_parts_is_proved(program: Callable[[], Specification]) -> None:
    every_map_is_proved(s for s in all_of(program()) if s.map.startswith("parts"))


def test_parts_of_a_depth_are_found_and_summed_up() -> None:
    """Where there are threads for them; and refused without their sum."""
    some = Specification("dots", {"x": tensor("x", 3, 800, role="input"), "w": tensor("w", 5, 800)},
                         dict(m=3, n=5, k=800), (Output("y", fold("sum", "k", times(load("x", "m", "k"),
                                                        load("w", "n", "k"))), (("m",), ("n",)), "float32"),))
    space, cut = Space(some, stages(some.outputs, some.extents), threads=8), Counter[str]()
    (several,) = alternatives(space)
    kept = [s for s in pruned(several, space, cut) if s.map == "parts of k, lanes along n"]
    assert len(kept) == 1 and kept[0].proved().proved
    *before, last = kept[0].program.kernels
    for wrong in (mutated(last, first_element, 0, random.Random(0)), mutated(last, nothing, 1, random.Random(0)),
                  mutated(last, one_round_less, 2, random.Random(0))):
        assert wrong is not None and not replace(kept[0], program=Program((*before, wrong))).proved().proved
    one = Space(some, space.stages, threads=1)
    assert not any(s.map.startswith("parts") for s in pruned(several, one, cut))
    assert cut["schedules in parts with enough to do"]


def test_what_is_packed_is_what_the_sum_is_over() -> None:
    """Each kernel holds what is said of it; what they make together is another sum."""
    scheduled = next(s for s in all_of(rms_norm_then_linear()) if s.map == "lanes along n")
    pack = next(kernel for kernel in scheduled.program.kernels if kernel.ahead)
    (name,) = [buffer.name for buffer in pack.writes]
    held, twice = scheduled.holds[name], mutated(pack, doubled, 0, random.Random(0))
    assert twice is not None
    kernels = tuple(twice if kernel is pack else kernel for kernel in scheduled.program.kernels)
    wrong = replace(scheduled, program=replace(scheduled.program, kernels=kernels),
                    holds={**scheduled.holds, name: Tensor(held.shape, lambda *at: mul(2, held[at]))})
    assert "another sum" in wrong.proved().reason


def test_what_is_shared_is_kept_once() -> None:
    """The hidden layer is one tensor, the scores of an attention are computed once."""
    assert [stage.target for stage in stages(gated_mlp().outputs, gated_mlp().extents)] == ["kept 0", "y"]
    folded = [name for stage in stages(attention().outputs, attention().extents) for name in stage.folds]
    assert len(folded) == 4                   # scores, their maximum, the weights' sum, the output
    assert [len(stage.folds) for stage in stages(low_rank().outputs, low_rank().extents)] == [1, 2]


# -------------------------------------------------------------------------------------------------------------- mutants

Mutation = Callable[[Statement, random.Random], "Statement | tuple[Statement, ...] | None"]


def without_guard(statement: Statement, dice: random.Random) -> tuple[Statement, ...] | None:
    return statement.body if isinstance(statement, When) else None


def one_round_less(statement: Statement, dice: random.Random) -> Statement | None:
    if not isinstance(statement, Loop):
        return None
    shorter = index(add(statement.variable.extent, -1))
    return Loop(statement.kind, shorter, tuple(put(s, {statement.variable: shorter}) for s in statement.body))


def another_monoid(statement: Statement, dice: random.Random) -> Statement | None:
    if not isinstance(statement, Local) or not statement.monoid:
        return None
    return replace(statement, monoid="max" if statement.monoid == "sum" else "sum")


def nothing(statement: Statement, dice: random.Random) -> tuple[Statement, ...] | None:
    return () if isinstance(statement, Accumulate | Store | Local) else None


def doubled(statement: Statement, dice: random.Random) -> Statement | None:
    return replace(statement, value=mul(2, statement.value)) if isinstance(statement, Accumulate | Store) else None


def parallel_fold(statement: Statement, dice: random.Random) -> Statement | None:
    """Rounds that fold into one accumulator, in parallel."""
    if not isinstance(statement, Loop) or statement.kind == "parallel":
        return None
    inside = list(statements(statement.body))
    own = {s.buffer for s in inside if isinstance(s, Local)}
    folds = [s for s in inside if isinstance(s, Accumulate) and s.target not in own]
    if not folds or any(statement.variable in i.free for s in folds for i in s.indices):
        return None
    return replace(statement, kind="parallel")


def first_element(statement: Statement, dice: random.Random) -> Statement | None:
    """Reads the first element along a dimension in place of the one that it should."""
    if not isinstance(statement, Accumulate):
        return None
    loads = [e for e in _loads(statement.value) if any(i.free for i in e.indices)]
    if not loads:
        return None
    which = dice.choice(loads)
    at = dice.choice([k for k, i in enumerate(which.indices) if i.free])
    other = Load(which.leaf, tuple(index(1) if k == at else i for k, i in enumerate(which.indices)))
    zero = {i: add(0) for i in other.indices if isinstance(i, Index) and i not in which.indices}
    return replace(statement, value=_changed(statement.value, {which: _changed(other, zero)}))


MUTATIONS: list[Mutation] = [
    without_guard, one_round_less, another_monoid, nothing, doubled, parallel_fold, first_element,
]


def _loads(e: Expr) -> list[Load]:
    return [*([e] if isinstance(e, Load) else []), *(load for child in e.children for load in _loads(child))]


def _changed(e: Expr, parts: dict[Expr, Expr]) -> Expr:
    return parts[e] if e in parts else rebuild(e, lambda child: _changed(child, parts))


def put(statement: Statement, variables: dict[Index, Expr]) -> Statement:
    def go(thing: object) -> object:
        if isinstance(thing, Expr):
            return _changed(thing, dict(variables))
        if isinstance(thing, tuple):
            return tuple(map(go, thing))
        return put(thing, variables) if isinstance(thing, Loop | When | Store | Accumulate) else thing

    kept = {f.name: go(getattr(statement, f.name)) for f in fields(statement) if f.name not in ("variable", "target")}
    return replace(statement, **kept)


def mutated(kernel: Kernel, mutation: Mutation, number: int, dice: random.Random) -> Kernel | None:
    """The kernel with its `number`-th statement that this can change changed."""
    left = [number]

    def go(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for statement in body:
            other = mutation(statement, dice)
            left[0] -= other is not None
            if other is not None and left[0] == -1:
                found.extend(other if isinstance(other, tuple) else (other,))
            elif hasattr(statement, "body"):
                found.append(replace(statement, body=go(statement.body)))
            else:
                found.append(statement)
        return tuple(found)

    body = go(kernel.body)
    return replace(kernel, body=body) if left[0] < 0 else None


def mutants() -> list[tuple[str, Kernel, Scheduled]]:
    """One mutant for each mutation and place, of every kernel of every map."""
    dice, found = random.Random(0), []
    for program in PROGRAMS:
        for scheduled in all_of(program()):
            if scheduled.map.startswith("parts"):        # they have a test of their own
                continue
            for kernel in scheduled.program.kernels:
                for mutation in MUTATIONS:
                    number = 0
                    while (other := mutated(kernel, mutation, number, dice)) is not None:
                        name = f"{program.__name__} {kernel.name}: {mutation.__name__} {number}"
                        found.append((name, other, scheduled))
                        number += 1
    return dice.sample(found, EVERYTHING)


def accepted(of: list[tuple[str, Kernel, Scheduled]]) -> list[str]:
    return [name for name, kernel, its in of if proved(Program((kernel,)), its.holds, its.claims).proved]


def test_mutated_kernels_are_refused() -> None:
    assert not accepted(mutants()[: EVERYTHING // 10])


@pytest.mark.long
def test_all_mutated_kernels_are_refused() -> None:
    assert not accepted(mutants())


def test_what_is_multiplied_with_narrow_weights_is_narrow() -> None:
    """As in a program of bfloat16 itself; along its depth, so that two rounds are taken at once. The scale is not."""
    narrow = rms_norm_then_linear()
    tensors = {name: replace(tensor, dtype="bfloat16") for name, tensor in narrow.tensors.items()}
    found = [s for s in all_of(replace(narrow, tensors=tensors)) if s.map == "lanes along n"]
    dtypes = {b.name: b.dtype for s in found for k in s.program.kernels for b in (*k.reads, *k.writes)}
    assert dtypes["left of fold 0 of y by n"] == "bfloat16" and dtypes["kept 0"] == "float32"
    assert not gathers(found[0].program, {"m": 3, "n": 32, "k": 8})
    for depth, columns in ((8, 32), (7, 37), (1, 5)):          # neighbours stand side by side; the last may have none
        sizes = {"m": 3, "n": columns, "k": depth, "lanes of n in y": 16, "rows of m in y": 3}
        program = bound(found[0].program, sizes)
        printed = function(program.kernels[-1], 16)
        assert ("dot(" in printed and "two<16>(" in printed) == (depth > 1)
        compares_with_torch(program, depth, columns)


def test_what_is_streamed_is_fetched_ahead_once_for_all_rows() -> None:
    """Of a weight of 1 MB: what is smaller may be in a cache still. Compilers do not drop the same fetch done again."""
    found = next(s for s in all_of(rms_norm_then_linear()) if s.map == "lanes along n")
    for columns, fetches in ((512, 1), (496, 0)):
        sizes = {"m": 3, "n": columns, "k": 512, "lanes of n in y": 16, "rows of m in y": 3}
        assert function(bound(found.program, sizes).kernels[-1], 16).count("soon(") == fetches


def compares_with_torch(program: Program, depth: int, columns: int) -> None:
    """The product alone: what is normalised before is given."""
    torch.manual_seed(0)
    left, w = torch.randn(3, depth).bfloat16(), torch.randn(columns, depth).bfloat16()
    kernels = [k for k in program.kernels if k.ahead or k is program.kernels[-1]]
    reads = [b.name for k in kernels if not k.ahead for b in k.reads if b.name.startswith("left")]
    others = [b for k in kernels if not k.ahead for b in k.reads if not b.name.startswith(("left", "fold"))]
    run = compile_program(Program(tuple(kernels)), [*reads, *(b.name for b in others)], ["w"], ["y"])
    ones = [torch.ones([whole(size) for size in b.shape], dtype=getattr(torch, b.dtype)) for b in others]
    (found,) = run(*[{reads[0]: left, "w": w}.get(name) if name in (reads[0], "w") else ones.pop(0)
                     for name in run.arguments])
    torch.testing.assert_close(found.float(), left.float() @ w.float().t(), rtol=2e-2, atol=2e-2)
