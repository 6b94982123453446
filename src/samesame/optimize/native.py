"""Native candidates: forms as kernels of our own, proved, tuned and printed.

Forms are cut into stages, each group of stages has several schedules; what is left of these after pruning is proved for
all sizes and tiles, tuned by measuring, and the fastest is taken, group by group, so that the work grows with the
number of groups and not with their combinations. That the stages, put into one another, are the forms is proved, too.
Each group has its share of the time that is left for proofs: once that is over the first schedule that is proved is
taken. Time for tuning is shared by how much the groups compute.
What is handed on is a file that calls the kernels, their text beside it, and the forms in torch's operators, against
which `check` proves the original.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, prod
from typing import ClassVar

import torch

from samesame.evidence import Refused
from samesame.formula.alike import alike, in_terms
from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import Unsupported, index
from samesame.formula.tensor import Tensor as Formula
from samesame.graph import Graph
from samesame.optimize.algebra import changed, formulas, in_torch, weights_in_code, weights_of
from samesame.optimize.beside import beside, neighbours
from samesame.optimize.candidate import Candidate
from samesame.optimize.compiled import describe
from samesame.optimize.described import described, listed, operators
from samesame.optimize.emit import cpp
from samesame.optimize.emit.places import c_type
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import Form, Place, concat, made, size_of, substitute, walk
from samesame.optimize.functions import taken_once
from samesame.optimize.groups import together
from samesame.optimize.guard import NO_PLACE, guarded
from samesame.optimize.ir import Program, anonymous, bound
from samesame.optimize.lengths import PROVABLE, folds
from samesame.optimize.lying import LEAVES
from samesame.optimize.machine import here
from samesame.optimize.meaning import Malformed
from samesame.optimize.names import with_levels
from samesame.optimize.online import Softmax, softmaxes
from samesame.optimize.partition import SHORTEST, Stage, factors, in_pairs, of_weights, orders, stages
from samesame.optimize.proving import require_order
from samesame.optimize.pruning import pruned
from samesame.optimize.schedule import NoSchedule, Scheduled, Space, alternatives
from samesame.optimize.search import Found, Rewriting
from samesame.optimize.specification import KEPT, Output, Specification
from samesame.optimize.tune import Tuned
from samesame.report.words import counted

FORMS = 2                                            # that are made into kernels, the cheapest
SCHEDULE, COMPOSITION = 4.0, 8.0                     # seconds of one question
AT_ONCE = 1.0                                        # of the question whether stages with sums in their terms are forms
LATE = "there was no time left; give it more with --minutes"


# Programs for one thing, sizes by name, and the share of the time that is meant for this.
Tune = Callable[[Sequence[Program], Mapping[str, int], float], Tuned]


@dataclass
class Native:
    """Kernels for a specification: the program with numbers in it, what it reads, and how it was found."""

    specification: Specification
    program: Program
    stages: list[Stage]
    chosen: list[Scheduled]                           # for each group of stages
    tiles: Mapping[str, int]                          # the numbers chosen, by the names of their symbols
    conditions: tuple[str, ...]
    fixed: Mapping[str, int]                          # axes that are numbers in the proof, with their extents
    holds: Mapping[str, Formula]                      # by stage, over what its group reads
    over: Space
    counts: Counter[str] = field(default_factory=Counter)
    lifted: tuple[str, ...] = ()                      # what is said of kernels whose code is proved

    runs_ahead: ClassVar[bool] = True                 # what is made of weights alone is kept from call to call

    @classmethod
    def space(cls, specification: Specification, cut: list[Stage]) -> Space:
        """The tensors as buffers, over the sizes that stay symbols in a proof."""
        return Space(specification, cut)

    @classmethod
    def schedules(cls, space: Space, means: Sequence[Softmax]) -> Iterator[list[Scheduled]]:
        """For each group of stages, several. Raises Unsupported for a dtype that the kernels do not compute with."""
        whole = space.specification
        for dtype in (*(t.dtype for t in whole.tensors.values()), *(output.dtype for output in whole.outputs)):
            c_type(dtype)
        return alternatives(space, means=means)

    @classmethod
    def means(cls, space: Space, counts: Counter[str]) -> list[Softmax]:
        """The means under a softmax to be tried in one pass: what is kept of their rows is more than a core's fastest
        memory."""
        found = list(softmaxes(space.stages))
        large = [mean for mean in found if 4 * prod(map(space.extent, mean.weights.axes)) > here().level1]
        counts["online softmaxes of short rows"] += len(found) - len(large)
        return large

    @classmethod
    def numbers(cls, space: Space) -> dict[str, int]:
        """The sizes that are numbers in the code."""
        return space.numbers()

    @property
    def files(self) -> dict[str, str]:
        """The kernels, by the file they stand in."""
        return {"kernels.cpp": cpp.source(self.program, here().lanes)}

    def named(self, role: str) -> list[str]:
        return self.specification.named(role)

    def source(self) -> str:
        """A Python file that calls the kernels; its `Fast(weights)` takes the tensors among the inputs in order."""
        outputs = [output.name for output in self.specification.outputs]
        description = json.dumps(describe(self.program, self.named("input"), self.named("weight"), outputs))
        return TEMPLATE.format(description=description, weights=weights_in_code(self.specification),
                               layouts=list(map(self.layout, self.specification.outputs)))

    def layout(self, output: Output) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """An output's shape and strides."""
        shape = self.specification.shape(output)
        return shape, output.strides or torch.empty(shape, device="meta").stride()

    def words(self, instead: Counter[str]) -> tuple[str, ...]:
        """What the kernels are, for people, and in place of which operators."""
        run = [kernel for kernel in self.program.kernels if not kernel.ahead]
        fixed = ", ".join(map(str, sorted(set(self.fixed.values()))))
        head = (f"{counted(len(run), 'kernel')} of our own in place of {counted(instead.total(), 'operator')} "
                f"({listed(instead)}){fixed and f'; some dimensions are numbers in their proof ({fixed})'}")
        return head, *self.each()

    def each(self) -> Iterator[str]:
        """A line for each group of kernels."""
        return (described(scheduled, self.tiles, self.over, here().lanes) for scheduled in self.chosen
                if scheduled.group[0].target != NO_PLACE)


TEMPLATE = '''"""Kernels of one's own for a program; what they compute in torch's operators stands in reference.py."""

import json
from functools import cache
from pathlib import Path

import torch

from samesame.optimize.compiled import load

DESCRIPTION = json.loads({description!r})
LAYOUTS = {layouts!r}


@cache
def text():
    """The kernels, read once: they are made anew over other weights, and the folder may be gone then."""
    return (Path(__file__).parent / "kernels.cpp").read_text()


class Fast(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = {weights}
        self.kernels = load(text(), DESCRIPTION)

    def forward(self, *tensors):
        found = self.kernels(*tensors, *self.weights)
        return tuple(tensor.as_strided(*layout) for tensor, layout in zip(found, LAYOUTS))
'''


def candidates(
    graph: Graph, specification: Specification, found: Found, tune: Tune, counts: dict[str, int],
    kind: type[Native] = Native, until: float = inf,
) -> Iterator[Candidate]:
    """Kernels for the cheapest forms that were found, each other than those before; how much was tried is counted.
    What is not made `until` then, on time.monotonic, is left out.

    Raises NoSchedule, saying why, where there are no kernels for any of them.
    """
    return tried(found, partial(_whole, graph, specification, once(tune), kind, until), counts)


def _whole(
    graph: Graph, specification: Specification, tune: Tune, kind: type[Native], until: float, forms: Rewriting
) -> Iterator[tuple[Candidate, Counter[str]]]:
    """Kernels for a whole program in these forms, and what was counted."""
    left(until)
    reference = in_torch(specification, forms, "the form of the kernels")
    for native in natives(*in_stages(specification, forms.outputs), tune, kind, until):
        yield Candidate(
            "kernels", native.source(), weights_of(specification),
            (*changed(specification, forms), *native.words(operators(graph))), formulas(specification, forms),
            forms.steps, native.files, complete=True, reference=reference, conditions=native.conditions,
            lifted=native.lifted, meant=partial(faithful, graph, specification, forms.outputs),
        ), native.counts


def tried(
    found: Found, make: Callable[[Rewriting], Iterator[tuple[Candidate, Counter[str]]]], counts: dict[str, int]
) -> Iterator[Candidate]:
    """What is made of the forms that multiply least, each other than those before: what lies between folds takes no
    memory in a kernel. Raises NoSchedule where that is nothing."""
    reason, seen = "", list[Mapping[str, str]]()
    for forms in sorted(found.candidates, key=_cheapest_first)[:FORMS]:
        several = list[tuple[Candidate, Counter[str]]]()
        try:
            for one in make(forms):
                several.append(one)
        except (NoSchedule, Unsupported, Refused, Malformed) as error:
            reason = str(error)
        for candidate, tally in several:
            for what, number in tally.items():
                counts[what] = counts.get(what, 0) + number
            if candidate.native not in seen:
                seen.append(candidate.native)
                yield candidate if len(seen) == 1 else replace(candidate, name=f"kernels {len(seen)}")
    if not seen:
        raise NoSchedule(reason)


def _cheapest_first(forms: Rewriting) -> tuple[float, float]:
    """How much it multiplies, to six digits; of as much, what is less where each contraction is one nest of loops."""
    return float(f"{forms.cost['multiplications']:.6g}"), forms.cost["loops"]


def once(tune: Tune) -> Tune:
    """The same, but asked once for programs that are the same but for names: the blocks of a network, the steps of an
    iteration."""
    known: dict[tuple[Program, ...], tuple[Tuned, list[str]]] = {}

    def remembered(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
        key = anonymous(tuple(programs), sizes)
        names = [tile.size.name for program in programs for tile in program.tiles]
        if key not in known:
            known[key] = tune(programs, sizes, share / FORMS), names
            return known[key][0]
        tuned, others = known[key]
        own = dict(zip(others, names, strict=True))
        return replace(tuned, numbers={own[name]: n for name, n in tuned.numbers.items()}, measured=())

    return remembered


def in_stages(specification: Specification, forms: Sequence[Form]) -> tuple[Specification, tuple[Output, ...]]:
    """The specification with these forms and no calls, and what is computed before its outputs: values that the program
    reads whole and in parts. Raises NoSchedule where something else stays a call of torch, or a tensor is empty."""
    require_filled(specification)
    for call in specification.calls:
        if call.operator != KEPT:
            raise NoSchedule(f"a part of the program stays a call of torch, {call.operator}")
    for output in specification.outputs:
        require_dense(specification.shape(output), output)
    before = len(specification.calls)
    kept = tuple(replace(output, form=form, name=call.results[0]) for call, output, form
                 in zip(specification.calls, specification.roots(), forms, strict=False))
    outputs = tuple(replace(output, form=form, name=f"result {output.name}")           # no input is called so
                    for output, form in zip(specification.outputs, forms[before:], strict=True))
    return replace(specification, outputs=outputs, calls=()), kept


def require_filled(specification: Specification) -> None:
    """Raises NoSchedule where a tensor is empty."""
    for name, tensor in specification.tensors.items():
        if 0 in tensor.shape:
            raise NoSchedule(f"{name} has no elements, so that nothing can be measured; give an example that has some")


def require_dense(shape: Sequence[int], output: Output) -> None:
    """Raises NoSchedule for an output that is not one element beside the other in some order of its dimensions."""
    step = 1
    for d in reversed(output.turned if output.strides else ()):
        assert output.strides is not None
        if shape[d] != 1 and output.strides[d] != step:
            raise NoSchedule(f"output {output.name} has the strides {list(output.strides)}, with gaps between its "
                             "elements or several of them in one place; return .contiguous() of it")
        step *= shape[d]


def natives(
    specification: Specification, kept: Sequence[Output], tune: Tune, kind: type[Native] = Native, until: float = inf
) -> Iterator[Native]:
    """The fastest kernels for a specification's outputs, with what is kept before them; and those with each mean under
    a softmax in one pass, where a row is long. Raises NoSchedule where there are none that are proved."""
    yield (first := native(specification, tune, kept, kind, until=until))
    if means := kind.means(first.over, first.counts):
        yield native(specification, tune, kept, kind, means, until)


def without_single(
    specification: Specification, kept: Sequence[Output]
) -> tuple[Specification, tuple[Output, ...]]:
    """The same with forms that have no axes of one element, where it matters: a product of a matrix that is computed
    and a column is no contraction with columns, but a sum for each row. Dimensions stay."""
    def single(axis: str) -> bool:
        return size_of([axis], specification.extents) == 1

    def is_of_rows(x: Form) -> bool:
        ones = {axis for axis in x.axes if x.operator == "fold" and single(axis)}
        return bool(ones) and x.attributes[0] == "sum" and any(
            y.operator not in LEAVES and {*x.axes} - ones <= {*y.axes} for y in factors(x.arguments[0]))

    def at_once(form: Form) -> Form:
        return substitute(form, {axis: Place() for axis in form.axes if single(axis)})

    def narrowed(output: Output) -> Output:
        memo = dict[Form, Form]()
        for x in walk(output.form):
            inside = [memo[y] for y in x.arguments]
            memo[x] = made(x.operator, x.attributes, tuple(inside)) if inside else x
            if x.operator == "concat":
                axis, parts = x.attributes
                ones = [part is not None and single(part) for part in parts]
                memo[x] = concat(axis, tuple(None if one else part for one, part in zip(ones, parts, strict=True)),
                                 [at_once(y) if one else y for one, y in zip(ones, inside, strict=True)])
        return replace(output, form=at_once(memo[output.form]))

    if not any(map(is_of_rows, walk(*(output.form for output in (*kept, *specification.outputs))))):
        return specification, tuple(kept)
    return replace(specification, outputs=tuple(map(narrowed, specification.outputs))), tuple(map(narrowed, kept))


def in_one_go(
    specification: Specification, kept: Sequence[Output]
) -> tuple[Specification, tuple[Output, ...]]:
    """The same with results that are made of the same elements under the same axes."""
    every = beside((*kept, *specification.outputs), specification.extents)
    return replace(specification, outputs=every[len(kept):]), every[:len(kept)]


def native(
    specification: Specification, tune: Tune, kept: Sequence[Output] = (), kind: type[Native] = Native,
    means: Sequence[Softmax] = (), until: float = inf,
) -> Native:
    """The fastest kernels, these means in one pass, with short sums in their terms, functions taken once and tensors
    read in digits where those are proved. Raises NoSchedule where there are none that are proved until then."""
    specification, kept, first = guarded(*in_one_go(*without_single(specification, kept)))
    failed = NoSchedule()
    for cut, seconds in _ways(specification, kept):
        try:
            return _native(specification, [*first, *neighbours(cut)], tune, kept, kind, means, until, seconds)
        except NoSchedule as none:
            failed = none
    raise failed


def _ways(specification: Specification, kept: Sequence[Output]) -> Iterator[tuple[list[Stage], float]]:
    """Stages to be tried, each other than those before, with the seconds in which they are to be proved the forms; the
    last ones are looked for where none before are."""
    plain, written_out = (_cuts(specification, kept, in_terms) for in_terms in (False, True))
    yield from ((cut, AT_ONCE) for cut in written_out if cut not in plain)
    yield from ((cut, COMPOSITION) for cut in plain)
    without_digits = _cuts(specification, kept, in_terms=False, in_digits=False)
    yield from ((cut, COMPOSITION) for cut in without_digits if cut not in plain)


def _cuts(
    specification: Specification, kept: Sequence[Output], in_terms: bool, in_digits: bool = True
) -> list[list[Stage]]:
    """The stages, with functions taken once and as they come, if that is not the same."""
    outputs, weights = (*kept, *specification.outputs), specification.named("weight")
    plain = stages(outputs, specification.extents, weights, in_terms, in_digits)
    integers = {name for name, tensor in specification.tensors.items() if tensor.kind == "int"}
    integers |= {stage.target for stage in plain if "int" in stage.dtype}
    once = taken_once(plain, lambda axis: size_of([axis], specification.extents), integers)
    return [once] if once == plain else [once, plain]


def _native(
    specification: Specification, cut: list[Stage], tune: Tune, kept: Sequence[Output], kind: type[Native],
    means: Sequence[Softmax], until: float, composition: float,
) -> Native:
    """The fastest kernels for these stages, if these are proved to be the forms in so many seconds."""
    space = kind.space(specification, cut)
    space.fix(_folded(output.form for output in (*kept, *specification.outputs)) - _folded(each.whole for each in cut))
    outputs = {output.name for output in (*kept, *specification.outputs)}
    if kind.runs_ahead:
        space.early = of_weights(cut, space.marked, {*outputs, NO_PLACE})
        cut.sort(key=lambda stage: stage.target not in space.early)    # so that they part no others
    counts: Counter[str] = Counter()
    chosen, tiles = list[Scheduled](), dict[str, int]()
    budget = Budget(seconds=min(composition, left(until)))
    conditions = list(_composed(kept, specification.outputs, space, cut, budget))
    found = list(kind.schedules(space, means))
    works = [0 if space.early.issuperset(stage.target for stage in several[0].group)
             else work(several[0].group, specification.extents) for several in found]
    for number, several in enumerate(found):
        own = time.monotonic() + left(until) / (len(found) - number + 1)           # one share for what follows
        best = _fastest(several, space, tune, works[number] / sum(works), counts, own, until)
        chosen.append(ahead(best[0], space.early))
        tiles |= best[1].numbers
        conditions += best[2]
    left(until)
    program = Program(sum((each.program.kernels for each in chosen), ()))
    made = {name for each in chosen for name in each.holds}
    require_order(program, made, specification.named("weight"), outputs)
    fixed = {axis: size for axis, size in space.sizes.items() if isinstance(size, int)}
    holds = {name: whole for each in chosen for name, whole in each.formulas(space).items()}
    return kind(specification, bound(program, {**kind.numbers(space), **tiles}), cut, chosen, tiles,
                tuple(dict.fromkeys(conditions)), fixed, holds, space, counts)


def _folded(forms: Iterable[Form]) -> set[str]:
    """The axes that are folded over."""
    return {axis for x in walk(*forms) if x.operator == "fold" for axis in x.attributes[1]}


def ahead(scheduled: Scheduled, early: frozenset[str]) -> Scheduled:
    """The same, before the program is used where its stages are made of weights alone."""
    if not early.issuperset(stage.target for stage in scheduled.group):
        return scheduled
    kernels = tuple(replace(kernel, ahead=True) for kernel in scheduled.program.kernels)
    return replace(scheduled, program=replace(scheduled.program, kernels=kernels))


def work(group: Sequence[Stage], extents: Mapping[str, int]) -> int:
    """About how many operations a group of stages does: time for numbers goes where a call's time does."""
    each = (size_of((*fold.axes, *fold.attributes[1]), extents) for stage in group for fold in stage.folds.values())
    return sum(each) + sum(size_of(stage.axes, extents) for stage in group)


def left(until: float) -> float:
    """The seconds until then. Raises NoSchedule where there are none."""
    if (seconds := until - time.monotonic()) <= 0:
        raise NoSchedule(LATE)
    return seconds


def _fastest(
    several: list[Scheduled], space: Space, tune: Tune, share: float, counts: Counter[str], own: float, until: float
) -> tuple[Scheduled, Tuned, Sequence[str]]:
    """The schedule that runs fastest among those that are proved. Once the group's `own` time is over, one is
    enough."""
    counts["schedules"] += len(several)
    sure, reasons = list[tuple[Scheduled, Sequence[str]]](), list[str]()
    for scheduled in pruned(several, space, counts):
        if sure and time.monotonic() >= own:
            break
        answer = scheduled.proved(min(SCHEDULE, left(until)))
        reasons.append(answer.reason)
        if answer.proved:
            sure.append((scheduled, answer.conditions))
    counts["schedules proved"] += len(sure)
    if not sure:
        raise NoSchedule(f"no schedule is proved: {reasons[0]}")
    tuned = tune([scheduled.program for scheduled, _ in sure], space.numbers(), share)
    counts["choices of tiles tried"] += len(tuned.measured)
    scheduled, conditions = sure[tuned.program]
    return scheduled, tuned, conditions


def _composed(
    kept: Sequence[Output], outputs: Sequence[Output], space: Space, cut: list[Stage], budget: Budget
) -> Sequence[str]:
    """Conditions under which the stages, put into one another, are the forms, which read what is kept as tensors.
    Raises NoSchedule where they are not. Where only the order of sums differs, each order is proved by itself."""
    tensors, extents = {output.name for output in kept}, space.specification.extents
    claims: dict[tuple[Form, Form], str] = {}
    for output in (*kept, *outputs):
        stage = next(stage for stage in cut if stage.target == output.name)
        whole = together(stage, [other for other in cut if other.target not in tensors]).whole
        ordered = whole is in_pairs(output.form, extents)
        claims |= dict.fromkeys(orders(output.form, extents) if ordered else [(output.form, whole)], output.name)
    conditions: list[str] = []
    for (form, other), name in claims.items():
        if with_levels(form, space.size) is not with_levels(other, space.size):
            if folds(form) > PROVABLE:
                raise NoSchedule(f"the formula of {name} is too long to be compared with that of its stages")
            at = {axis: index(space.size(axis)) for axis in form.axes}
            sides = [space.expression(x, at) for x in (other, form)]
            if alike(*(in_terms(side, SHORTEST) for side in sides)):
                continue
            answer = prove_equal(*sides, budget=budget)
            if not isinstance(answer, Proved):
                raise NoSchedule(f"the stages of {name} are not proved to be its form: {answer.reason}")
            conditions += map(str, answer.conditions)
    return conditions
