"""Segments: kernels for what lies before, between and behind the calls of torch that stay.

A program that looks up an embedding, takes the largest k or convolves has operators without a form. They run in torch,
and cut the program in segments: a tensor is of segment 0 if no call's result is in it, a call's result of the segment
behind that of what it takes. Each segment is a specification without calls; the results of earlier calls, and what
earlier segments have computed already, are inputs of it:

    x ──▶ norm, linear ──▶ topk ──▶ softmax of what is left ──▶        kernels 0, aten.topk, kernels 1
             └──────────────────────── + ──▶                           linear is computed once

What is to be computed is written down as a specification again, the *laid out* one: it has all calls, and each tensor
that kernels are to make is a value that is kept. In torch's operators that is the reference, which `check` proves
against the original. The program that runs is the same lines, printed by the same printer, where those that make the
values of a segment are one call of its kernels. A segment without kernels stays as it is in the reference, and so do
integers, truth values and what only moves elements.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import inf
from typing import Any

from samesame.evidence import Refused
from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import Unsupported, index
from samesame.graph import Graph
from samesame.operators.table import packet
from samesame.optimize.algebra import changed, formulas, weights_of
from samesame.optimize.candidate import Candidate
from samesame.optimize.compiled import describe
from samesame.optimize.described import listed
from samesame.optimize.emit.torch_ops import Printer, source
from samesame.optimize.emit.variables import constant
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import TRUTHS, Form, along, base, formula, load, made, size_of, walk
from samesame.optimize.meaning import Malformed
from samesame.optimize.names import Digests, nameless
from samesame.optimize.native import COMPOSITION, Native, Tune, left, natives, once, require_filled, tried
from samesame.optimize.partition import replaced
from samesame.optimize.reading import MOVES, is_moved
from samesame.optimize.schedule import NoSchedule
from samesame.optimize.search import Found, Rewriting
from samesame.optimize.specification import KEPT, Call, Output, Specification, Tensor
from samesame.report.words import counted

FLOATS = frozenset({"float32", "float64", "bfloat16"})
LOGIC = TRUTHS | {"position"}


def has_calls(specification: Specification) -> bool:
    """Whether something of a program stays a call of torch."""
    return any(call.operator != KEPT for call in specification.calls)


# --------------------------------------------------------------------------------------------------------- cutting


@dataclass(frozen=True)
class Part:
    """A tensor that kernels are to make: a form of the program, and the same that reads what earlier segments made."""

    form: Form
    output: Output                                   # a dimension for each axis

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for (axis,) in self.output.dims)

    def loaded(self, names: Mapping[str, str] | None = None) -> Form:
        """It as a tensor, at its own axes or those that stand for them."""
        return load(self.output.name, *(along((names or {}).get(axis, axis)) for axis in self.axes))


class Layout:
    """A program's forms in segments. `roots` are the specification's over what is made, `parts` what each segment
    makes."""

    def __init__(self, specification: Specification, forms: Sequence[Form]) -> None:
        self.specification, self.forms = specification, forms
        self.levels: dict[str, int] = dict.fromkeys(specification.tensors, 0)
        self.roots, self.at = list(forms), list[int]()
        self.kept, self.ready = set[int](), set[Call]()
        self._find_levels()
        self.parts: list[list[Part]] = [[] for _ in range(1 + max(self.at))]
        self._made: dict[Any, Part] = {}
        self._first: dict[str, dict[Form, tuple[int, list[str]]]] = {}
        self._sizes: dict[Form, int] = {}
        self.digests = Digests(self.extent)
        self._real: dict[Form, bool] = {}
        for level in range(len(self.parts)):
            self._lay_out(level)

    def _find_levels(self) -> None:
        """The segment of each root. Results of a call are of the one behind; of one that takes nothing which kernels
        compute, and so is `ready` before them, of the same."""
        forms, kept = iter(self.forms), set[str]()
        for call in self.specification.calls:
            own = [next(forms) for _ in call.takes]
            level = max(map(self.level, own), default=0)
            if call.operator == KEPT:
                self.kept.add(len(self.at))
                kept |= {*call.results}
            elif all(map(is_moved, own)) and kept.isdisjoint(
                    x.attributes[0] for x in walk(*own) if x.operator == "load"):
                self.ready.add(call)
            else:
                level += 1
            self.at += map(self.level, own)
            self.levels |= dict.fromkeys(call.results, level)
        self.at += map(self.level, forms)

    def level(self, form: Form) -> int:
        return max((self.levels[x.attributes[0]] for x in walk(form) if x.operator == "load"), default=0)

    def _lay_out(self, level: int) -> None:
        """The roots of one segment: what its kernels make, and then what is torch's."""
        late, computed = list[int](), dict[int, list[str]]()
        for number, root in enumerate(self.specification.roots()):
            if self.at[number] != level:
                continue
            form, order = self._over(self.forms[number], level), [axis for d in root.turned for axis in root.dims[d]]
            if number in self.kept:
                self.roots[number], computed[number] = form, order
            elif root.dtype in FLOATS and not is_moved(form):
                part = self._part(self.forms[number], order, root.dtype, level)
                self.roots[number], computed[number] = part.loaded(), order
            else:
                late.append(number)
        for number, order in computed.items():
            for x in walk(self.forms[number]):
                self._first.setdefault(nameless(x), {}).setdefault(x, (level, order))
        for number in late:
            self.roots[number] = self._over(self.forms[number], level + 1)

    def _part(self, form: Form, order: Iterable[str], dtype: str, level: int) -> Part:
        """What is made of the form in a segment."""
        key = level, form, dtype
        if key not in self._made:
            dims = tuple((axis,) for axis in order if axis in form.axes)
            name = f"part {len(self._made)}"
            self._made[key] = Part(form, Output(name, self._over(form, level), dims, dtype))
            self.parts[level].append(self._made[key])
            self.levels[name] = level
        return self._made[key]

    def _over(self, form: Form, before: int) -> Form:
        """The form over what the segments before this one make: each of its largest parts that one of them computes
        anyway is read."""
        for x in walk(form):
            nameless(x)                              # from below, as forms may be deeper than calls
        found, memo = dict[Form, Form](), dict[Form, Form]()
        waiting, seen = [form], set[Form]()
        while waiting:
            x = waiting.pop()
            if x in seen:
                continue
            seen.add(x)
            earlier = self._earlier(x, before)
            if earlier is None:
                waiting += x.arguments
            else:
                found[x] = earlier
        for x in walk(form, arguments=lambda x: () if x in found else x.arguments):
            memo[x] = found.get(x) or (
                made(x.operator, x.attributes, tuple(memo[y] for y in x.arguments)) if x.arguments else x)
        return memo[form]

    def _earlier(self, form: Form, before: int) -> Form | None:
        """What an earlier segment computes and is this form but for the names of axes, read at this form's."""
        known = self._first.get(nameless(form), {})
        if not known or not self._worth_keeping(form):
            return None
        key, names = self.digests.renamed(form)
        for other, (level, order) in known.items():
            same, own = self.digests.renamed(other)
            if level < before and same == key:
                real = "float64" if any(self.specification.tensors[x.attributes[0]].dtype == "float64"
                                        for x in walk(other) if x.operator == "load") else "float32"
                part = self._part(other, dict.fromkeys((*order, *other.axes)), real, level)
                return part.loaded(dict(zip(own, names, strict=True)))
        return None

    def extent(self, axis: str) -> int:
        return size_of([axis], self.specification.extents)

    def _worth_keeping(self, form: Form) -> bool:
        """Whether it is real numbers with a fold in them, and no larger than a fold's result: what is multiplied within
        a fold is not kept."""
        for x in walk(form, arguments=lambda x: () if x in self._sizes else x.arguments):
            if x not in self._sizes:
                own = size_of(x.axes, self.specification.extents) if x.operator == "fold" else 0
                self._sizes[x] = max([own, *(self._sizes[y] for y in x.arguments)])
                self._real[x] = self._is_real(x)
        return self._real[form] and 0 < size_of(form.axes, self.specification.extents) <= self._sizes[form]

    def _is_real(self, x: Form) -> bool:
        match x.operator, *x.attributes:
            case "load", name, *_:
                return self.specification.tensors[name].kind == "real"
            case "cast", dtype:
                return "float" in dtype
        below = x.arguments[1:] if x.operator == "where" else x.arguments
        return x.operator not in LOGIC and any(self._real[y] for y in below)

    # ------------------------------------------------------------------------------------------- what is made of it

    def specified(self) -> Specification:
        """The laid out specification: what a segment makes is kept, then come the calls behind it."""
        whole, roots = self.specification, iter(self.roots)
        before, within, behind = ([list[Call]() for _ in self.parts] for _ in range(3))
        places = iter(self.at)
        for call in whole.calls:
            level = max([next(places) for _ in call.takes], default=0)
            put = replace(call, arguments=_filled(call.arguments, roots), keywords=_filled(call.keywords, roots))
            (before if call in self.ready else within if call.operator == KEPT else behind)[level].append(put)
        tensors = dict(whole.tensors)
        for level, parts in enumerate(self.parts):
            for part in parts:
                output = part.output
                tensors[output.name] = Tensor(output.name, whole.shape(output), output.dtype, "result")
                within[level].append(Call(KEPT, (output,), (), (output.name,)))
        outputs = tuple(replace(output, form=form) for output, form in zip(whole.outputs, roots, strict=True))
        ordered = tuple(chain.from_iterable(chain.from_iterable(zip(before, within, behind, strict=True))))
        return replace(whole, tensors=tensors, outputs=outputs, calls=ordered)

    def require_composed(self) -> tuple[str, ...]:
        """The conditions under which the forms over what is made are the program's. Raises NoSchedule where they are
        not proved to be."""
        parts = [part for several in self.parts for part in several]
        wholes = {part.output.name: part.form for part in parts}
        axes = {part.output.name: part.axes for part in parts}
        extents, conditions = self.specification.extents, list[str]()
        leaves = self.specification.leaves()
        for form, over in [*zip(self.forms, self.roots, strict=True), *((p.form, p.output.form) for p in parts)]:
            composed = replaced(over, wholes, axes)
            if composed is form:
                continue
            at = {axis: index(extents[base(axis)]) for axis in {*form.axes, *composed.axes}}
            answer = prove_equal(*(formula(x, at, extents, leaves) for x in (composed, form)),
                                 budget=Budget(seconds=COMPOSITION))
            if not isinstance(answer, Proved):
                raise NoSchedule(f"segments are not proved to be the program's form: {answer.reason}")
            conditions += map(str, answer.conditions)
        return tuple(conditions)

    def asked(self) -> list[Form | None]:
        """The forms that kernels have to do with; None for what torch computes anyway."""
        names = {part.output.name for several in self.parts for part in several}
        return [form if number in self.kept or any(
                    x.operator == "load" and x.attributes[0] in names for x in walk(self.roots[number])) else None
                for number, form in enumerate(self.forms)]


def _filled(argument: Any, forms: Iterator[Form]) -> Any:
    """A nested argument with these forms in its outputs, from left to right."""
    if isinstance(argument, Output):
        return replace(argument, form=next(forms))
    return tuple(_filled(part, forms) for part in argument) if isinstance(argument, tuple) else argument


# --------------------------------------------------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Segment:
    """What kernels of one segment make: tensors that others read, and values that it keeps for itself. `returned` are
    the names of what is read elsewhere."""

    specification: Specification
    kept: tuple[Output, ...]
    returned: tuple[str, ...]

    @property
    def outputs(self) -> tuple[Output, ...]:
        return *self.kept, *self.specification.outputs

    @property
    def work(self) -> int:
        """About how many operations it does."""
        extents = self.specification.extents
        return sum(size_of((*x.axes, *(x.attributes[1] if x.operator == "fold" else ())), extents)
                   for x in walk(*(output.form for output in self.outputs)) if x.operator not in MOVES)


def segments(layout: Layout, laid: Specification) -> Iterator[Segment]:
    """Those with something to compute."""
    kept: list[list[Output]] = [[] for _ in layout.parts]
    for call in laid.calls:
        if call.operator == KEPT and call.results[0] in layout.specification.tensors:
            (output,) = call.takes
            kept[layout.levels[call.results[0]]].append(replace(output, name=call.results[0]))
    for level, parts in enumerate(layout.parts):
        outputs = tuple(part.output for part in parts)
        own = [*kept[level], *outputs]
        if not own:
            continue
        looked = tuple((i, axis) for i, axis in laid.looked if layout.level(i) == level)
        names, reads = {output.name for output in own}, _reads(output.form for output in own)
        reads |= _reads(i for i, _ in looked)
        elsewhere = _reads([*(output.form for output in laid.outputs),
                            *(output.form for call in laid.calls if call.results[0] not in names
                              for output in call.takes)])
        tensors = {name: tensor if tensor.role == "weight" or name in names else replace(tensor, role="input")
                   for name, tensor in laid.tensors.items() if name in reads}
        yield Segment(
            Specification(f"{laid.name} {level}", tensors, laid.extents, outputs, looked=looked), tuple(kept[level]),
            tuple(output.name for output in own if output in outputs or output.name in elsewhere),
        )


def _reads(forms: Iterable[Form]) -> set[str]:
    """The tensors that they are computed of."""
    return {x.attributes[0] for x in walk(*forms) if x.operator == "load"}


@dataclass(frozen=True)
class Kernels:
    """A segment's kernels in a file of their own."""

    segment: Segment
    native: Native
    file: str

    @property
    def takes(self) -> list[str]:
        return [*self.native.named("input"), *self.native.named("weight")]

    def described(self) -> str:
        """What `load` has to know of them."""
        native = self.native
        return json.dumps(describe(native.program, native.named("input"), native.named("weight"),
                                   self.segment.returned))


ABOVE = '''
import json
from functools import cache
from pathlib import Path

from samesame.optimize.compiled import load

DESCRIPTIONS = {descriptions}


@cache
def text(name):
    """Kernels, read once: they are made anew over other weights, and the folder may be gone then."""
    return (Path(__file__).parent / name).read_text()

'''


class Between(Printer):
    """The laid out specification in torch's operators, but for the values that kernels make."""

    def __init__(self, laid: Specification, kernels: Sequence[Kernels]) -> None:
        super().__init__(laid, tuple(root.form for root in laid.roots()))
        self.kernels = {output.name: own for own in kernels for output in own.segment.outputs}
        self.above = ABOVE.format(descriptions="{\n" + "".join(
            f"    {own.file!r}: {own.described()!r},\n" for own in kernels) + "}")
        self.ahead.append("self.kernels = {name: load(text(name), json.loads(said)) "
                          "for name, said in DESCRIPTIONS.items()}")
        self.ahead.append("self.weights = {")
        for own in kernels:
            weights = ", ".join(map(self._held, own.native.named("weight")))
            self.ahead.append(f"    {own.file!r}: [{weights}],")
        self.ahead.append("}")

    def _held(self, name: str) -> str:
        tensor = self.specification.tensors[name]
        return constant(tensor) if tensor.value is not None else self.weight(name)

    def call(self, call: Call) -> None:
        own = self.kernels.get(call.results[0]) if call.operator == KEPT else None
        if own is None:
            super().call(call)
        elif not set(own.segment.returned) & self.read.keys():
            given = ", ".join(map(self._given, own.native.named("input")))
            names = [self.new() for _ in own.segment.returned]
            self.lines.append(f"{', '.join(names)}, = self.kernels[{own.file!r}]({given}{', ' if given else ''}"
                              f"*self.weights[{own.file!r}])")
            self.read.update(zip(own.segment.returned, names, strict=True))
            self.shown.update(zip(own.segment.returned, names, strict=True))
            self.own.update(names)

    def _given(self, name: str) -> str:
        """Inputs as they lie in the example; what torch has made, row-major."""
        result = self.specification.tensors[name].role == "result"
        return f"{self.read[name]}.contiguous()" if result and name not in self.kernels else self.read[name]


def candidates(
    graph: Graph, specification: Specification, found: Found, tune: Tune, counts: dict[str, int], until: float = inf
) -> Iterator[Candidate]:
    """Kernels between calls of torch for the cheapest forms that were found, as `native.candidates` has them for whole
    programs. Raises NoSchedule, saying why, where there are none."""
    require_filled(specification)
    return tried(found, partial(between, graph, specification, once(tune), until), counts)


def between(
    graph: Graph, specification: Specification, tune: Tune, until: float, forms: Rewriting
) -> Iterator[tuple[Candidate, Counter[str]]]:
    """Candidates for one form. Raises NoSchedule where no segment has kernels."""
    left(until)
    layout = Layout(specification, forms.outputs)
    laid = layout.specified()
    every = sorted(segments(layout, laid), key=lambda segment: -segment.work)
    if not every:
        stay = "stay calls" if sum(call.operator != KEPT for call in specification.calls) > 1 else "stays a call"
        raise NoSchedule(f"beside {calls_of(specification)}, which {stay} of torch, there is nothing to compute")
    conditions = layout.require_composed()
    weights = weights_of(specification)
    reference = Candidate("the form of the kernels", source(laid, tuple(root.form for root in laid.roots())),
                          weights, whole=True)
    variants, reasons = list[tuple[Segment, list[Native]]](), list[str]()
    for number, segment in enumerate(every):
        rest, begun = every[number:], time.monotonic()
        share = (segment.work / sum(other.work for other in rest) + 1 / len(rest)) / 2
        own = begun + share * (until - begun)
        try:
            variants.append((segment, list(_natives(segment, tune, segment.work / sum(e.work for e in every), own))))
        except (NoSchedule, Unsupported, Refused, Malformed) as error:
            reasons.append(str(error))
    if not variants:
        raise NoSchedule(reasons[0])
    for number in range(max(len(several) for _, several in variants)):
        kernels = [Kernels(segment, several[min(number, len(several) - 1)], f"kernels_{place}.cpp")
                   for place, (segment, several) in enumerate(variants)]
        chosen = [own.native for own in kernels]
        yield Candidate(
            "kernels", Between(laid, kernels).file(), weights,
            (*changed(specification, forms), *words(specification, chosen, reasons)), formulas(specification, forms),
            forms.steps, {own.file: own.native.files["kernels.cpp"] for own in kernels}, complete=True, whole=True,
            reference=reference, meant=partial(faithful, graph, specification, layout.asked()),
            conditions=tuple(dict.fromkeys((*conditions, *(c for each in chosen for c in each.conditions)))),
        ), sum((each.counts for each in chosen), Counter())


def _natives(segment: Segment, tune: Tune, share: float, until: float) -> Iterator[Native]:
    """The segment's kernels, and those with means in one pass where there are such and time is left."""
    several = natives(segment.specification, segment.kept, lambda programs, sizes, part: tune(
        programs, sizes, part * share), until=until)
    yield next(several)
    try:
        yield from several
    except (NoSchedule, Unsupported, Refused, Malformed):
        return


def calls_of(specification: Specification) -> str:
    """The calls of torch in a program, `embedding × 2, topk`."""
    return listed(Counter(packet(call.operator).removeprefix("aten.") for call in specification.calls
                          if call.operator != KEPT))


def words(specification: Specification, chosen: Sequence[Native], reasons: Sequence[str]) -> tuple[str, ...]:
    """What the kernels are, and what stays torch's."""
    run = [kernel for each in chosen for kernel in each.program.kernels if not kernel.ahead]
    stay = "stays" if len(reasons) == 1 else "stay"
    rest = f"; {counted(len(reasons), 'segment')} between calls {stay} torch's, too ({reasons[0]})" if reasons else ""
    head = f"{counted(len(run), 'kernel')} of our own before, between and behind calls that stay torch's " \
           f"({calls_of(specification)}){rest}"
    return head, *(line for each in chosen for line in each.each())
