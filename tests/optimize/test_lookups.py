"""Look-ups at integers in data: forms mean what torch computes, kernels never read outside, errors are torch's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from math import inf, prod
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from tests.optimize.compiled_programs import untimed
from torch import nn
from torch.nn import functional as F

from optimize.looking_up import PROGRAMS, brackets, embeddings, gatherings, ints, module_of, reals, selections
from optimize.named import worked_out
from samesame import check, optimize
from samesame.capture import capture
from samesame.evidence import Refused
from samesame.formula.expr import Fold, Leaf, Load, Size, add, const, index, mul
from samesame.formula.expr import walk as expressions_in
from samesame.optimize import native, segments
from samesame.optimize.algebra import specified
from samesame.optimize.attempt import Attempt
from samesame.optimize.candidate import Candidate
from samesame.optimize.compiled import FLAGS, Compiled, Description, describe, driver, library
from samesame.optimize.dropin import EAGER
from samesame.optimize.emit import cpp
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.facts import facts_of
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import (
    Form,
    compare,
    extent,
    extremum,
    load,
    lookup,
    minus,
    number,
    plus,
    substitute,
    text,
    times,
    walk,
    where,
)
from samesame.optimize.guard import NO_PLACE, clamped, guarded, nearest
from samesame.optimize.job import loaded
from samesame.optimize.machine import here
from samesame.optimize.partition import Stage, replaced, stages
from samesame.optimize.proving import with_any
from samesame.optimize.read import read
from samesame.optimize.rows import rows
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.schedule import NoSchedule, alternatives
from samesame.optimize.search import searched
from samesame.optimize.space import Space
from samesame.optimize.specification import Output, Specification, Tensor
from samesame.report.optimized import Report

SANITIZED = "-fsanitize=address", "-fno-sanitize-recover=all", *FLAGS
EXTREMES = 10**6, -(10**6), 2**32, -(2**32), 2**62

# ------------------------------------------------------------------------------------------------ meanings


@settings(deadline=None, max_examples=30)
@given(program=embeddings() | selections() | gatherings() | brackets())
def test_forms_and_what_they_are_in_torch_are_what_torch_looks_up(program: Any) -> None:
    function, tensors = program
    graph = capture(function, tensors)
    specification, expected = read(graph), function(*tensors)
    assert not specification.calls
    (output,) = specification.outputs
    given = dict(zip(specification.arguments, tensors, strict=True))
    mine = worked_out(output.form, {**graph.tensors, **given}, specification.extents, output.dims)
    torch.testing.assert_close(mine, expected.double())
    names: dict[str, Any] = {}
    exec(source(specification, [output.form]), names)
    torch.testing.assert_close(names["Fast"]()(*tensors), expected)
    settled = faithful(graph, specification, [output.form]) is not None
    assert settled or 0 in expected.shape or 1 in tensors[0].shape         # of one place, whatever the index says


def test_integers_that_are_positions_are_a_view() -> None:
    specification = read(capture(lambda x: x[torch.arange(1, 4)][:, torch.arange(3)], (reals(5, 4),)))
    assert text(specification.outputs[0].form) == "x[k + 1, l]" and not specification.looked


def test_only_what_is_looked_up_is_computed_unless_it_is_more_than_there_is() -> None:
    for many, of in ((3, "fn"), (40, "lookup")):
        (output,) = read(capture(lambda x, i: x.exp()[i], (reals(9, 4), ints(9, many)))).outputs
        assert output.form.operator == of


@pytest.mark.parametrize(("function", "tensors"), [
    (lambda x, i: x.flatten(0, 1)[i], (reals(3, 4, 5).transpose(0, 1), ints(12, 3))),           # along two axes
    (lambda x, m: x[m.to(torch.uint8).to(torch.int64)], (reals(3, 4), ints(3, 2))),             # a cast comes between
])
def test_what_no_form_expresses_stays_a_call(function: Callable[..., Any], tensors: tuple[torch.Tensor, ...]) -> None:
    specification = read(capture(function, tensors))
    assert any("index" in call.operator or "copy" in call.operator for call in specification.calls)


def test_a_table_that_is_renormalised_as_it_is_read_is_refused() -> None:
    with pytest.raises(Refused, match="writes into"):
        optimize(nn.Embedding(5, 3, max_norm=1.0), (ints(5, 4),), minutes=0.1)


def test_a_look_up_captures_no_axis_and_reads_as_mathematics() -> None:
    table = lookup("e", load("w", "e", "k"), load("ids", "t"))
    assert table.axes == ("k", "t") and text(table) == "w[e, k][e = ids[t]]"
    assert text(substitute(table, {"t": "e"})) == "w[e′, k][e′ = ids[e]]"
    assert lookup("e", load("w", "k"), load("ids", "t")) is load("w", "k")


# ------------------------------------------------------------------------------------------------ kernels


def whole(specification: Specification) -> tuple[Specification, tuple[Output, ...]]:
    return native.in_stages(specification, [root.form for root in specification.roots()])


def candidate(module: nn.Module, tensors: tuple[torch.Tensor, ...]) -> Candidate:
    graph = capture(module, tensors)
    specification = specified(module, tensors, graph)
    ways = segments.candidates if segments.has_calls(specification) else native.candidates
    return next(iter(ways(graph, specification, searched(specification), untimed, {})))


def dropped_in(module: nn.Module, tensors: tuple[torch.Tensor, ...], found: Candidate, place: Path) -> Any:
    file = write_files(place / "found", files_of(found, facts_of(module, tensors, found, EAGER)))
    return loaded(file).optimized(module)


def error_of(program: Callable[..., Any], *tensors: torch.Tensor) -> str:
    try:
        program(*tensors)
    except (IndexError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_look_up_what_torch_does_and_raise_its_errors(name: str, tmp_path: Path) -> None:
    function, tensors = PROGRAMS[name]
    module = module_of(function)
    found = candidate(module, tensors)
    assert found.native and not any("as it was" in line and "topk" not in line for line in found.source.splitlines())
    fast = dropped_in(module, tensors, found, tmp_path)
    fast.original.forward = refuses                        # the first calls are the kernels' own
    with torch.no_grad():
        for seed in range(3):
            others = tuple(x if x.is_floating_point() else x.flatten()[torch.randperm(
                x.numel(), generator=torch.Generator().manual_seed(seed))].view(x.shape) for x in tensors)
            torch.testing.assert_close(fast(*others), function(*others), rtol=1e-3, atol=1e-3)
        del fast.original.forward
        for k, x in enumerate(tensors):
            for value in EXTREMES if not x.is_floating_point() else ():
                for place in (0, -1):
                    wrong = x.clone()
                    wrong.view(-1)[place] = max(min(value, 2**31 - 1), -(2**31)) if x.dtype == torch.int32 else value
                    outside = (*tensors[:k], wrong, *tensors[k + 1:])
                    assert error_of(fast, *outside) == error_of(module, *outside)


@pytest.mark.parametrize("value", [4, 5, -1])
def test_the_first_place_behind_the_last_is_none(value: int, tmp_path: Path) -> None:
    module, table = module_of(lambda w, ids: F.embedding(ids, w).exp() + 1), reals(5, 8)
    tensors = table, torch.tensor([[0, 1, 2], [3, 4, 0]])
    fast = dropped_in(module, tensors, candidate(module, tensors), tmp_path)
    others = table, torch.tensor([[0, 1, 2], [3, value, 0]])
    assert error_of(fast, *others) == error_of(module, *others)


def unguarded(name: str) -> tuple[str, Description]:
    """A program's kernels, but for the one that would stop the others."""
    function, tensors = PROGRAMS[name]
    specification, kept = whole(read(capture(function, tensors)))
    program = native.native(specification, untimed, kept).program
    program = replace(program, kernels=tuple(kernel for kernel in program.kernels if kernel.name != "guard"))
    description = describe(program, specification.arguments, [], [output.name for output in specification.outputs])
    return cpp.source(program, here().lanes), description


def called_beyond(name: str, text: str, description: Description) -> None:
    """The kernels, under the sanitizers, with integers far outside."""
    run = Compiled(text, description, library(text + driver(description), SANITIZED))
    for value in EXTREMES:
        run(*(x if x.is_floating_point() else torch.full_like(x, value if x.dtype == torch.int64 else value % 2**31)
              for x in PROGRAMS[name][1]))


@pytest.mark.long
def test_kernels_read_nothing_outside(tmp_path: Path) -> None:
    """In a process of its own, as sanitizers have to be loaded first; proofs are not for that."""
    names = ("experts", "paged", "listed", "pairs", "loss", "of few")
    (tmp_path / "made.json").write_text(json.dumps({name: unguarded(name) for name in names}))
    code = textwrap.dedent(f"""
        import json
        import test_lookups as t
        for name, made in json.load(open({str(tmp_path / "made.json")!r})).items():
            t.called_beyond(name, *made)
        print("done")
    """)
    found = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    paths = [*sys.path, str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    environment = {**os.environ, "LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0",
                   "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "done", run.stderr[-2000:]


def refuses(*_: Any) -> Any:
    raise AssertionError("the original runs")


@pytest.mark.parametrize("name", ["experts", "paged"])
def test_what_is_looked_up_is_multiplied_where_it_lies(name: str) -> None:
    """No kernel writes it down: what is kept has no more elements than a few tokens have."""
    function, tensors = PROGRAMS[name]
    specification, kept = whole(read(capture(function, tensors)))
    found = native.native(specification, untimed, kept)
    written = [buffer for kernel in found.program.kernels if not kernel.ahead for buffer in kernel.writes]
    assert max(prod(map(int, buffer.shape)) for buffer in written) < 300


@pytest.mark.parametrize("name", ["experts", "paged", "listed", "words"])
def test_what_is_said_of_them_is_proved(name: str) -> None:
    function, tensors = PROGRAMS[name]
    module = module_of(function)
    found = candidate(module, tensors)
    assert found.settled().faithful and found.reference is not None
    names: dict[str, Any] = {}
    exec(found.reference.source, names)
    verdict = check(module, names["Fast"](), tensors)
    assert verdict.verdict == "same" and verdict.evidence.name.startswith("PROVED")


def test_integers_of_64_bits_are_whole_in_lanes(tmp_path: Path) -> None:
    module, i = module_of(lambda i: (torch.where(i + 1 == 1, 0.5, 1.0) + 1, (i + 1) * 0.5)), torch.arange(40)
    fast = dropped_in(module, (i,), candidate(module, (i,)), tmp_path)
    with torch.no_grad():
        for mine, own in zip(fast(i * 2**32), module(i * 2**32), strict=True):
            torch.testing.assert_close(mine, own)


# ------------------------------------------------------------------------------------------------ proofs


W, IDS, OTHER = load("w", "e", "k"), load("ids", "t"), load("other", "t")
FOUND = lookup("e", W, IDS)
WITHIN = extremum("min", extremum("max", IDS, number(0)), minus(extent("e"), number(1)))


def space_of(form: Form, axes: tuple[str, ...] = ("t", "k")) -> tuple[Space, list[Stage]]:
    tensors = {"w": Tensor("w", (5, 5), "float32", "weight"), "ids": Tensor("ids", (7,), "int64", "input"),
               "other": Tensor("other", (7,), "int64", "input")}
    extents = {"e": 5, "k": 5, "t": 7}
    output = Output("y", form, tuple((axis,) for axis in axes), "float32")
    specification = Specification("looked", tensors, extents, (output,))
    cut = stages(specification.outputs, extents)
    return Space(specification, cut), cut


def is_proved(form: Form, claimed: Form) -> bool:
    """Whether the kernel of one form holds what another says."""
    both = plus(form, claimed)                             # one space for the two
    space, _ = space_of(both)
    made, said = (Stage("y", ("t", "k"), x, {}, "float32") for x in (form, claimed))
    return replace(rows(space, [made], ["y"]), holds={"y": space.held(said)}).proved().proved


FALSE = {
    "another axis": lookup("k", load("w", "e", "k"), WITHIN),
    "the integers of another tensor": clamped(lookup("e", W, OTHER)),
    "one place further": lookup("e", W, nearest(plus(IDS, number(1)), "e")),
    "the second last place at most": lookup("e", W, extremum("min", extremum("max", IDS, number(0)), minus(
        extent("e"), number(2)))),
    "counted from the end": lookup("e", W, nearest(where(
        compare("<", IDS, number(0)), plus(IDS, extent("e")), IDS), "e")),
    "turned": lookup("e", load("w", "k", "e"), WITHIN),
}


def test_a_kernel_that_looks_up_is_proved() -> None:
    assert is_proved(clamped(FOUND), clamped(FOUND))
    assert is_proved(times(number(2), clamped(FOUND)), plus(clamped(FOUND), clamped(FOUND)))


@pytest.mark.parametrize("other", FALSE)
def test_what_looks_up_something_else_is_not_proved(other: str) -> None:
    assert not is_proved(clamped(FOUND), substitute(FALSE[other], {"e": "k"}))


@pytest.mark.parametrize("index", [
    IDS, extremum("max", IDS, number(0)), extremum("min", IDS, minus(extent("e"), number(1))),
    extremum("min", extremum("max", IDS, number(0)), extent("e")),
    extremum("min", extremum("max", IDS, number(-1)), minus(extent("e"), number(1))),
], ids=["as it is", "no least", "no largest", "one too far", "one too early"])
def test_a_kernel_that_may_read_outside_is_not_proved(index: Form) -> None:
    form = lookup("e", W, index)
    space, _ = space_of(form)
    answer = rows(space, [Stage("y", ("t", "k"), form, {}, "float32")], ["y"]).proved()
    assert not answer.proved and "outside of it" in answer.reason


def test_any_numbers_in_the_place_of_elements_are_no_less() -> None:
    ids, i = Leaf("ids", (Size("T", 1),), "int"), index(Size("T", 1))
    twice = add(Load(ids, (i,)), mul(-1, Load(ids, (i,))), Load(ids, (const(0),)))
    assert len({e for e in expressions_in(with_any(twice)) if isinstance(e, Load)}) == 2
    summed = Fold("sum", (i,), Load(ids, (i,)))            # an element for each round is not one number
    assert with_any(summed) is summed


def test_a_false_twin_in_torch_is_not_the_same() -> None:
    def rightly(w: torch.Tensor, ids: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return F.embedding(ids, w) + w.index_select(1, other).T

    def wrongly(w: torch.Tensor, ids: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return F.embedding(other, w) + w.index_select(1, ids).T

    tensors = reals(5, 5), ints(5, 7), ints(4, 7)
    graph = capture(rightly, tensors)
    specification, wrong = read(graph), read(capture(wrongly, tensors))
    names: dict[str, Any] = {}
    exec(source(wrong, [wrong.outputs[0].form]), names)
    assert check(rightly, names["Fast"](), tensors).verdict == "different"
    (form,) = (output.form for output in specification.outputs)
    turned = replaced(form, {"ids": load("other", "z"), "other": load("ids", "z")}, {"ids": ("z",), "other": ("z",)})
    assert turned is not form
    assert faithful(graph, specification, [form]) is not None
    assert faithful(graph, specification, [turned]) is None


# ------------------------------------------------------------------------------------------------ the guard


def test_the_guard_looks_at_all_that_is_looked_up_and_at_what_the_program_would() -> None:
    function, tensors = PROGRAMS["last"]
    specification = read(capture(function, tensors))
    whole, _, (guard,) = guarded(specification, ())
    assert guard.target == NO_PLACE and [text(i) for i, _ in specification.looked] == ["ids[i, j]"]
    assert len(guard.folds) == 2                           # of the last word, which is read, and of all words
    assert all(x.arguments[1].operator == "extremum" for output in whole.outputs for x in walk(output.form)
               if x.operator == "lookup")
    assert guarded(read(capture(lambda x: x + 1, (reals(3),))), ())[2] == []


def test_look_ups_have_no_kernels_for_a_gpu() -> None:
    function, tensors = PROGRAMS["words"]
    specification, _, first = guarded(*whole(read(capture(function, tensors))))
    cut = [*first, *stages(specification.outputs, specification.extents)]
    with pytest.raises(NoSchedule, match="for processors only"):
        list(alternatives(Space(specification, cut), gpu=True))


def kernels_of_a_look_up(until: float) -> list[Candidate]:
    """What an attempt that has so much time finds for a program with one."""
    module, example = nn.Sequential(nn.Embedding(5, 8), nn.Linear(8, 4)), (ints(5, 3),)
    whole = specified(module, example, capture(module, example))
    return list(attempt_at(module, example, until).kernels(whole, searched(whole)))


def attempt_at(module: nn.Module, example: tuple[torch.Tensor, ...], until: float = inf) -> Attempt:
    """As much of an attempt as looks for programs."""
    class Looking(Attempt):
        tuned = staticmethod(untimed)

        def __init__(self) -> None:
            self.module, self.example, self.graph, self.report = module, example, capture(module, example), Report("p")

        @property
        def until(self) -> float:
            return until

    return Looking()


def test_look_ups_without_kernels_stay_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """And there are kernels of what stands beside them."""
    asked = list[bool]()

    def candidates(graph: Any, specification: Specification, *_: Any, **__: Any) -> Any:
        asked.append(segments.has_calls(specification))
        if not asked[-1]:
            raise NoSchedule("nothing is proved")
        yield from ()

    monkeypatch.setattr(native, "candidates", candidates)
    monkeypatch.setattr(segments, "candidates", candidates)
    assert not kernels_of_a_look_up(inf)
    assert asked == [False, True]


def test_why_there_are_no_kernels_is_said_though_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that reading it anew takes longer."""
    def candidates(*_: Any, **__: Any) -> Any:
        raise NoSchedule("nothing is proved")

    monkeypatch.setattr(native, "candidates", candidates)
    with pytest.raises(NoSchedule, match="nothing is proved"):
        kernels_of_a_look_up(until=0.0)


def test_where_look_ups_stay_calls_nothing_is_looked_through() -> None:
    """Else a search without kernels would begin anew, and again, without what it has left out already."""
    for function, tensors in PROGRAMS.values():
        graph = capture(function, tensors)
        assert read(graph).looked and not read(graph, look_ups=False).looked


def test_what_only_has_to_be_a_place_is_no_formula_beside_calls() -> None:
    """Forms in torch's operators, and parts between calls, would say nothing of a class that is none."""
    def program(x: torch.Tensor, a: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        order = torch.sort((x @ a) > 0, 1).values
        return (x @ a).mul(order).scatter(1, ids, 0.5).exp().sum(1)

    tensors = reals(5, 4), reals(4, 7), ints(7, 5, 1)
    module = module_of(program)
    attempt = attempt_at(module, tensors)
    whole = specified(module, tensors, attempt.graph)
    assert whole.is_guarded_alone
    found = [*attempt.kernels(whole, searched(whole)), *attempt.forms(whole, searched(whole))]
    assert found and all("aten.scatter" in (each.reference or each).source for each in found)


@pytest.mark.parametrize("program", [lambda x, i: torch.scatter(x, 0, i, 2.0) + 1])
def test_a_number_is_no_tensor_to_write_into(program: Callable[..., Any]) -> None:
    specification = read(capture(program, (torch.tensor(1.0), torch.tensor(0))))
    assert [call.operator for call in specification.calls] == ["aten.scatter.value"]


def test_one_class_for_a_row_of_its_own_stays_a_call() -> None:
    program, tensors = (lambda x, i: F.nll_loss(x, i)), (reals(3), ints(3, 1))
    try:
        program(*tensors)
    except (RuntimeError, ValueError) as error:
        pytest.skip(f"this torch refuses it: {error}")
    assert read(capture(program, tensors)).calls
