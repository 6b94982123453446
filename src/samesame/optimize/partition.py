"""Partition: forms are cut into stages, each of which computes one tensor that is kept.

What is kept is what a fold over it would compute again for every element: an operand of a contraction that is itself
computed (the hidden layer of an MLP, the weights of an attention), and what has fewer axes than what it is used in (the
scale of a row). Everything else is inlined. A stage is then one loop nest: its folds accumulate side by side for each
element, and its value is a function, element by element, of these, of earlier stages' tensors and of inputs.

Of what is the same but for the names of its axes (a norm that queries and keys are made of), and for where these begin
(the density of each neighbour of a cell), one is kept. A kept tensor lies in memory as it is read first: along the axis
that lanes of its reader run along, or that the reader sums over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

from samesame.optimize.forms import (
    Form,
    Place,
    along,
    exchanged,
    finite,
    fold,
    load,
    made,
    plus,
    size_of,
    substitute,
    times,
    walk,
)
from samesame.optimize.lying import LEAVES, as_it_lies, in_memory, in_turn, is_tensor, leaves, look_ups_of, table_of
from samesame.optimize.names import Digests, nameless
from samesame.optimize.pairs import Axes, steps
from samesame.optimize.portions import Held
from samesame.optimize.shared import is_function, is_near, taken_by_several
from samesame.optimize.specification import Output
from samesame.optimize.streams import streams, streams_in


@dataclass(frozen=True)
class Stage:
    """`target[axes] = value`, in which `load(name)` of a fold's name is that fold at these axes."""

    target: str
    axes: tuple[str, ...]
    value: Form
    folds: dict[str, Form] = field(default_factory=dict)
    dtype: str = ""                                  # of an output, or an index; else what is kept is as sums are

    @property
    def whole(self) -> Form:
        """The value with its folds in place: what the target holds."""
        return replaced(self.value, self.folds)

    @property
    def reads(self) -> frozenset[str]:
        """The tensors it reads, inputs and targets of earlier stages."""
        return frozenset(x.attributes[0] for x in walk(self.whole) if x.operator == "load")


def stages(
    outputs: Iterable[Output], extents: Mapping[str, int], weights: Collection[str] = (), in_terms: bool = True,
    in_digits: bool = True,
) -> list[Stage]:
    """The stages that compute the outputs, each after those it reads. `weights` are tensors that may be put in another
    order ahead. Short sums are written `in_terms`, where that saves a tensor or gives lanes more to do; tensors are
    read `in_digits`, where two axes count one of theirs."""
    outputs = tuple(replace(output, form=in_pairs(output.form, extents)) for output in outputs)
    for form in walk(*(output.form for output in outputs)):
        nameless(form)                               # from below, as forms may be deeper than calls
    kept, digests = frozenset[str](), Digests(lambda axis: size_of([axis], extents))
    common = taken_by_several(outputs, extents)
    wider: dict[Hashable, Form] = {}
    while True:                                      # what one stage must keep, or folds, another need not do again
        held, forms = Held(digests, in_digits), [output.form for output in outputs]
        cutter = _Cutter(kept, common, wider, held, forms, extents, weights, in_terms)
        cutter.in_terms &= all(cutter.folds_deep(output.form) <= DEEPEST for output in outputs)
        for output in in_order(outputs):
            cutter.output(output)
        now = frozenset(map(nameless, cutter.kept)) | {fold for fold, times in cutter.folded.items() if times > 1}
        now |= {factor for factor, folds in cutter.taken.items() if len(folds) > 1}
        found = held.wider()
        if kept >= now and wider.keys() >= found.keys():
            return cutter.stages
        kept |= now
        wider |= found


def in_order(outputs: Sequence[Output]) -> list[Output]:
    """The outputs, each after those that it reads by name, and after those that are a part of it: what a name stands
    for counts in how high a form is."""
    height: dict[str, int] = {}
    for output in outputs:                           # what is read comes before its readers
        read = (height.get(x.attributes[0], 0) for x in walk(output.form) if x.operator == "load")
        height[output.name] = output.form.height + max(read, default=0)
    return sorted(outputs, key=lambda output: height[output.name])


MOVED = 32                                           # multiplications in the time that an element goes through memory


def in_pairs(form: Form, extents: Mapping[str, int]) -> Form:
    """The form with each sum of a product of several tensors taken in the order that multiplies least, if what is
    summed up on the way, and kept, is not more than that saves."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        memo[x] = made(x.operator, x.attributes, tuple(memo[y] for y in x.arguments)) if x.arguments else x
        if x.operator == "fold" and is_contraction(x):
            memo[x] = paired(factors(memo[x].arguments[0]), x.attributes[1], extents)
    return memo[form]


def paired(parts: Iterable[Form], over: Axes, extents: Mapping[str, int]) -> Form:
    """The sum over axes of the product of these, two at a time."""

    def cost(left: Axes, right: Axes | None, axes: Axes, spans: Axes) -> float:
        return float(size_of(spans, extents)) + (MOVED * size_of(axes, extents) if len(axes) < len(spans) else 0.0)

    numbers, tensors = list[Form](), list[Form]()
    for part in parts:
        (numbers if finite(part) else tensors).append(part)
    tensors, scales = without_scales(tensors, over)
    for left, right, axes, spans in steps([y.axes for y in tensors], over, cost)[1]:
        product = times(tensors[left], *([tensors[right]] if right is not None else []))
        tensors.append(fold("sum", set(spans) - set(axes), product))
    return times(*numbers, *scales, tensors[-1])


def without_scales(tensors: list[Form], over: Axes) -> tuple[list[Form], list[Form]]:
    """The factors of a contraction, one of which has an axis for itself, and those that the sum is multiplied by: all
    that have no axis of it, if without them there is such an axis and with them there is none, as where queries and
    keys both have a norm."""
    inside = [x for x in tensors if not set(over).isdisjoint(x.axes)]
    outside = [x for x in tensors if set(over).isdisjoint(x.axes)]

    def has_columns(factors: list[Form]) -> bool:
        return 1 in Counter(axis for x in factors for axis in x.axes if axis not in over).values()

    return (inside, outside) if has_columns(inside) and not has_columns(tensors) else (tensors, [])


def orders(form: Form, extents: Mapping[str, int]) -> Iterator[tuple[Form, Form]]:
    """What `in_pairs` takes for granted of this form: each of its contractions, over any factors, and the same in the
    order that is taken. Where a factor may be infinite, over these factors themselves."""
    for x in walk(form):
        if x.operator == "fold" and is_contraction(x):
            parts = [y if finite(y) or may_be_infinite(y) else load(f"factor {k}", *y.axes)
                     for k, y in enumerate(factors(x.arguments[0]))]
            yield fold("sum", x.attributes[1], times(*parts)), paired(parts, x.attributes[1], extents)


def may_be_infinite(form: Form) -> bool:
    """Whether a mask's -∞ may be left in the form. Its exponential is 0."""
    infinite = set[Form]()
    for x in walk(form):
        if (x.operator == "number" and not finite(x)) or (
                (x.operator, x.attributes) != ("fn", ("exp",)) and not infinite.isdisjoint(x.arguments)):
            infinite.add(x)
    return form in infinite


def replaced(form: Form, forms: Mapping[str, Form], axes: Mapping[str, tuple[str, ...]] | None = None) -> Form:
    """The form with other forms in place of tensors, by name; `axes` are those that a tensor's dimensions stand for."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        if x.operator == "load" and x.attributes[0] in forms:
            name, *places = x.attributes
            memo[x] = substitute(forms[name], dict(zip((axes or {}).get(name, ()), places, strict=True)))
        else:
            memo[x] = made(x.operator, x.attributes, tuple(memo[y] for y in x.arguments)) if x.arguments else x
    return memo[form]


def factors(form: Form) -> tuple[Form, ...]:
    """The factors of a product; a form that is none is its own. A cast is the number that it is of."""
    bare = without_casts(form)
    return tuple(map(without_casts, bare.arguments)) if bare.operator == "times" else (bare,)


def without_casts(form: Form) -> Form:
    while form.operator == "cast":
        form = form.arguments[0]
    return form


def is_contraction(fold: Form) -> bool:
    """A sum of products in which some factor, which is no number, has fewer axes than the sum and its range together:
    then the factor is used again and again. Where another is computed for each element of the sum, that is what takes
    time, and it is no tensor."""
    parts, free = [x for x in factors(fold.arguments[0]) if not finite(x)], set(fold.axes)
    several = fold.attributes[0] == "sum" and len(parts) > 1 and any(free - set(x.axes) for x in parts)
    return several and not any(x.operator not in LEAVES and free <= set(x.axes) for x in parts)


def is_pairwise(fold: Form) -> bool:
    """A sum over something computed, no product, of tensors none of which has all axes of the result, and two of which
    have an axis each that the other lacks: of distances, where each point meets all others."""
    free = set(fold.axes)
    tensors = leaves(fold.arguments[0])
    axes = [set(x.axes) & free for x in tensors]
    computed = any(x.operator not in LEAVES and free <= set(x.axes) for x in factors(fold.arguments[0]))
    apart = any(a - b and b - a for a, b in combinations(axes, 2))
    return fold.attributes[0] == "sum" and computed and apart and not any(free <= own for own in axes)


def is_operand(factor: Form, others: Iterable[Form], fold: Form) -> bool:
    """Whether the factor is a tensor with an axis of the result that no other factor has."""
    rest = {axis for other in others if other is not factor for axis in other.axes}
    return is_tensor(factor) and bool(set(factor.axes) & set(fold.axes) - rest)


SHORTEST = 4                                         # terms of a sum that is written out
DEEPEST = 4                                          # sums in one another: of many steps each would be in each next one
SHORT = 8                                            # of what runs in lanes, less is not worth them
MANY_ROWS = 128                                      # whose ends are worth a kernel of their own
MANY = 8                                             # elements for each of which a function would be computed again
OFTEN = 16                                           # results, lanes of one register, that take an operand's element
NOT_ROUNDED = frozenset({"float32", "float64"})      # results that hold what sums are accumulated in


class _Cutter:
    def __init__(
        self, kept: frozenset[str], common: frozenset[str], wider: Mapping[Hashable, Form], held: Held,
        forms: Collection[Form], extents: Mapping[str, int], weights: Collection[str], in_terms: bool,
    ) -> None:
        self.common = common                         # functions that several results take
        self.wider = wider                           # of what is read in portions, the portion that holds the others
        self.in_terms = in_terms                     # short sums are written out
        self.digests, self.extents, self.weights = held.digests, extents, weights
        self.streams, streamed = streams(forms, kept, self.digests)
        self.anyway = kept - streamed                # what is kept wherever it occurs, without names of axes
        self.stages: list[Stage] = []
        self.kept: dict[Form, Form] = {}             # as they are read
        self.making = list[Form]()                   # of which stages are under way
        self.held = held
        self.folded = Counter[str]()            # in how many stages a fold is
        self.taken: dict[str, set[str]] = {}         # factors that take functions, and of which folds they are
        self.folding: dict[Form, int] = {}           # how many folds stand in one another
        self.costly: dict[Form, bool] = {}

    def output(self, output: Output) -> None:
        axes = tuple(axis for d in output.turned for axis in output.dims[d])
        value, folds = self.staged(output.form, axes)
        if self.ends_in_functions(value, folds, axes):
            (name,) = folds
            self.stages.append(kept := Stage(f"kept {len(self.stages)}", axes, load(name), folds))
            value, folds = replaced(value, {name: load(kept.target, *axes)}), {}
        self.stages.append(stage := Stage(output.name, axes, value, folds, output.dtype))
        held = [axis for axis in axes if axis in output.form.axes or self.extent(axis) > 1]       # else it is one place
        if output.dtype in NOT_ROUNDED and sorted(held) == [*output.form.axes]:
            self.read_as(output.form, stage)

    def ends_in_functions(self, value: Form, folds: Mapping[str, Form], axes: tuple[str, ...]) -> bool:
        """Whether functions are taken of one fold for each row, along which it lies: of many rows at once they run in
        lanes, as a stage of their own."""
        if len(folds) != 1 or size_of(axes, self.extents) < MANY_ROWS or not any(map(is_function, walk(value))):
            return False
        (fold,) = folds.values()
        (_, over), tensors = fold.attributes, [x for x in leaves(fold.arguments[0]) if is_tensor(x)]
        lies = in_memory(max(tensors, key=lambda x: len(x.axes))) if tensors else []
        return not is_contraction(fold) and not is_pairwise(fold) and bool(lies) and lies[-1] in over

    def keep(self, form: Form, order: Sequence[str], dtype: str = "") -> Form:
        """The form as a tensor of its own, with its axes in this order where it is kept for the first time, and last
        those that are not in it: the axis of a part of a concatenation."""
        if form not in self.kept:
            axes = tuple(dict.fromkeys(axis for axis in (*order, *form.axes) if axis in form.axes))
            if (found := self.held.portion(form)) is None and self.keeps_wider(form, axes, dtype):
                found = self.held.portion(form)
            self.kept[form] = found or self.new(form, axes, dtype)
        return self.kept[form]

    def keeps_wider(self, form: Form, order: Sequence[str], dtype: str) -> bool:
        """Whether what holds this form among other portions is kept instead."""
        key, here = self.digests.portion(form)
        whole = self.wider.get(key, form)
        if whole is form or whole in self.kept:
            return False
        own = dict(zip(here.names, self.digests.portion(whole)[1].names, strict=True))
        self.keep(whole, tuple(own[axis] for axis in order), dtype)
        return True

    def new(self, form: Form, axes: tuple[str, ...], dtype: str) -> Form:
        value, folds = self.staged(form, axes)
        self.stages.append(stage := Stage(f"kept {len(self.stages)}", axes, value, folds, dtype))
        return self.read_as(form, stage)

    def read_as(self, form: Form, stage: Stage) -> Form:
        """The stage's target is the form from now on, under any names of axes."""
        self.held.add(form, stage.target, stage.axes)
        places = (along(axis) if axis in form.axes else Place() for axis in stage.axes)
        return self.kept.setdefault(form, load(stage.target, *places))

    def staged(self, form: Form, order: tuple[str, ...]) -> tuple[Form, dict[str, Form]]:
        """The value and folds of a stage of its own."""
        self.making.append(form)
        found = self.value(form, order)
        self.making.pop()
        return found

    def extent(self, axis: str) -> int:
        return size_of([axis], self.extents)

    def value(self, form: Form, order: tuple[str, ...]) -> tuple[Form, dict[str, Form]]:
        """What is left of a form when its folds are names and what has fewer axes is kept."""
        folds: dict[str, Form] = {}
        named: dict[Form, Form] = {}
        form = self.with_points(self.with_tables(self.with_kept(form)), order)
        followed = any(map(is_function, walk(form, arguments=lambda x: () if x.operator == "fold" else x.arguments)))

        @cache
        def go(x: Form, order: tuple[str, ...]) -> Form:
            if not self.has_fold(x):
                return self.invariant(x, form.axes, order)
            if x.axes != form.axes or (x is not form and nameless(x) in self.anyway):
                return self.keep(x, self.lying(x, order))
            if (sooner := self.streamed(x, order, form)) is not x:
                return go(sooner, order)
            if x.operator != "fold":
                return made(x.operator, x.attributes, tuple(map(go, x.arguments, orders_within(x, order))))
            if x not in named:
                named[x] = load(f"fold {len(folds)}")
                self.folded[nameless(x)] += 1
                folds[named[x].attributes[0]] = self.fold(x, order, followed)
            return named[x]

        return go(form, order), folds

    def with_kept(self, form: Form) -> Form:
        """The form with those of its folds read that are kept already, and what is read along two axes where it has to
        be kept for a fold."""
        every = [*walk(form, arguments=lambda x: () if x.operator == "fold" else x.arguments)]
        kept = {x: self.held.portion(x) or x for x in every if x.operator == "fold"}
        kept |= {x: self.keep(x, self.lying(x, x.axes)) for x in every
                 if x is not form and x.operator not in LEAVES and nameless(x) in self.anyway and self.crosses(x)}
        return exchanged(form, kept) if kept else form

    def streamed(self, x: Form, order: tuple[str, ...], whole: Form | None = None) -> Form:
        """A sum as what it adds to the longest stream in it, which is read; but for a stream that is itself made."""
        found = [*streams_in(x, self.streams)] if x.operator == "plus" else []
        for stream, rest in sorted(found, key=lambda each: (len(each[1]), nameless(each[0]))):
            if stream is not whole:
                return plus(self.keep(stream, self.lying(stream, order)), *rest)
        return x

    def with_tables(self, form: Form) -> Form:
        """The form with whatever is looked up in as a tensor, of its axes first those that the index has, too; and with
        what is looked up to be an index kept, so that proofs have one look-up within another at most."""
        kept = dict[Form, Form]()
        for x in walk(form):
            if x.operator == "lookup":
                table, looked = table_of(x), look_ups_of(x)
                if table.operator not in ("load", "position"):
                    kept[table] = self.keep(table, in_turn(table, looked))
                kept |= {y: self.keep(y, y.axes, "int64") for y in walk(x.arguments[1]) if y.operator == "lookup"}
        return exchanged(form, kept) if kept else form

    def with_points(self, form: Form, order: tuple[str, ...]) -> Form:
        """The form with short sums of points written out, of which something else is made then."""
        points = dict[Form, Form]()
        for x in walk(form, arguments=lambda x: () if x.operator == "fold" else x.arguments):
            own = tuple(axis for axis in order if axis in x.axes)
            if x.operator == "fold" and nameless(x) not in self.anyway and self.is_of_points(x, own):
                points[x] = self.written_out(x, own)
        return exchanged(form, points) if points else form

    def fold(self, form: Form, order: tuple[str, ...], followed: bool) -> Form:
        """The fold over operands that are kept; where it is `followed`, functions are taken of what it comes to."""
        monoid, axes = form.attributes
        shared = [x for x in factors(form.arguments[0]) if self.is_shared(x, form)]
        form = exchanged(form, {x: self.keep(x, self.lying(x, (*order, *axes))) for x in shared}) if shared else form
        body = form.arguments[0]
        if is_contraction(form) and not is_pairwise(form):
            computed: dict[tuple[str, ...], list[Form]] = {}
            for x in factors(body):
                if self.has_fold(x):
                    computed.setdefault(x.axes, []).append(x)
            given = self.multiplied([x for x in factors(body) if not self.has_fold(x)], form)
            mixed = [x for x in given if self.is_mixed(x, form)]
            wholes = [*(times(*several) for several in computed.values()), *mixed]
            given = [self.invariant(x, x.axes, (*order, *axes)) for x in given if x not in mixed]
            every = [*given, *wholes]
            kept = [self.keep(x, self.operand_order(x, every, form, order, followed)) for x in wholes]
            given = [self.keep(x, self.operand_order(x, every, form, order, followed))
                     if self.has_last(x, every, order, axes) else x for x in given]
            if not any(is_operand(x, [*given, *kept], form) for x in (*given, *kept)):
                last = self.depth(axes, given)
                given = [x if is_tensor(x) or x.operator == "number" else self.keep(x, (*order, *last)) for x in given]
            operands = times(*given, *kept)
        else:
            inside = (*order, *axes)
            if is_pairwise(form):
                inside = (*axes, *order)             # lanes run along the results' last axis, in what is kept here, too
                joined = [x for x in leaves(body) if x.operator == "concat"]
                body = exchanged(body, {x: self.keep(x, inside) for x in joined})
            elif self.crosses(body):
                body = self.keep(body, self.lying(body, inside))
            elif order and {order[-1]} == lanes_of(body, self.weights) & {order[-1], axes[-1]}:
                inside = (*axes, *order)             # as a matmul makes it: a maximum over points of what each gives
            operands = self.inlined(body, body.axes, inside)
        return Form("fold", (monoid, axes), (operands,))

    def has_last(self, x: Form, every: Iterable[Form], order: Sequence[str], over: Sequence[str]) -> bool:
        """Whether an operand that takes functions alone has the axis that the results lie along: kept, it is the one
        whose lanes are theirs, and else each lane of a result is written to a place far from the one before. What is
        made of tensors that lie along what is summed up lies so, too."""
        last = order[-1] if order else ""
        if last not in x.axes or self.extent(last) < SHORT or is_tensor(x) or not any(map(is_function, walk(x))):
            return False
        if any(last in other.axes for other in every if other is not x):
            return False
        lies = [in_memory(y) for y in walk(x) if y.operator == "load" and in_memory(y)]
        longest = max(map(len, lies), default=0)
        return not lies or any(one[-1] not in over for one in lies if len(one) == longest)

    def multiplied(self, given: list[Form], contraction: Form) -> list[Form]:
        """The factors, those together that are tensors with the same axes and used for many results: a gate."""
        alike, rest = dict[tuple[str, ...], list[Form]](), list[Form]()
        for x in given:
            often = x.axes and self.is_often_used(x, contraction)
            (alike.setdefault(x.axes, []) if often else rest).append(x)
        return [*rest, *(times(*several) for several in alike.values())]

    def is_often_used(self, x: Form, contraction: Form) -> bool:
        """Whether a computed operand is used for so many results that it costs less as a tensor of its own."""
        return size_of({*contraction.axes} - {*x.axes}, self.extents) >= OFTEN

    def is_mixed(self, x: Form, contraction: Form) -> bool:
        """Whether an operand is made of several tensors, element by element, and used for many results."""
        tensors = {y for y in leaves(x) if y.operator == "load" and {*x.axes} <= {*y.axes}}
        return not is_tensor(x) and len(tensors) > 1 and self.is_often_used(x, contraction)

    def crosses(self, body: Form) -> bool:
        """Whether what is folded is read along one axis and along another, as a matrix beside itself turned: one of
        them would be read across in each round. As a tensor of its own it is made tile by tile."""
        if self.has_fold(body) or is_tensor(body):
            return False
        tensors = [(in_memory(x)[-1], x.axes) for x in leaves(body) if x.operator == "load" and len(in_memory(x)) > 1]
        long = [(last, {*axes}) for last, axes in tensors if self.extent(last) > SHORT]
        return any(a != b and {a, b} <= one & other for (a, one), (b, other) in combinations(long, 2))

    def lying(self, form: Form, order: tuple[str, ...]) -> tuple[str, ...]:
        """The order of axes for what is kept element by element: that of what it is made of, else it would be read or
        written across. A fold lies as it is read."""
        return order if form.operator == "fold" else as_it_lies(form, order)

    def is_shared(self, factor: Form, fold: Form) -> bool:
        """Whether other folds have this factor, too, which takes functions, another for each element, and is not more
        than is sooner read again: prices and their derivatives are sums over the same discounts."""
        body = fold.arguments[0]
        small = factor is not body and factor.axes == body.axes and is_near(factor, self.extents)
        if not small or is_tensor(factor) or not self.takes_functions(factor):
            return False
        self.taken.setdefault(nameless(factor), set()).add(nameless(fold))
        return nameless(factor) in self.anyway

    def operand_order(
        self, x: Form, every: Iterable[Form], contraction: Form, order: Sequence[str], followed: bool
    ) -> tuple[str, ...]:
        """The axes of a computed operand as a contraction likes them best, whose results lie in this order: first what
        all have. Its own axis comes last where that is the results' last one and lanes can run along it as it is
        computed, or functions are taken of each result, and what is summed over comes last where not."""
        rest = {axis for other in every if other is not x for axis in other.axes}
        both = [axis for axis in order if axis in x.axes and axis in rest]
        own = [axis for axis in order if axis in x.axes and axis not in rest]
        summed = self.depth([axis for axis in contraction.attributes[1] if axis in x.axes], every)
        last = own[-1] if own and own[-1] == order[-1] and self.extent(own[-1]) >= SHORT else None
        along_it = last is not None and (last in lanes_of(x, self.weights) or (
            followed and not joined_along(x) & {*summed}))
        return (*both, *summed, *own) if along_it else (*both, *own, *summed)

    def depth(self, axes: Iterable[str], every: Iterable[Form]) -> list[str]:
        """What is summed over, in the order in which a tensor has it that is given; where none has it the longest is
        last, and not the two neighbours that a rotation has turned."""
        given = [axis for x in every if is_tensor(x) for axis in in_memory(x)]
        ordered = sorted(axes, key=lambda axis: given.index(axis) if axis in given else len(given))
        short = bool(ordered) and set(ordered).isdisjoint(given) and self.extent(ordered[-1]) < SHORT
        return sorted(ordered, key=self.extent) if short else ordered

    def inlined(self, form: Form, axes: tuple[str, ...], order: tuple[str, ...]) -> Form:
        """Computed again for each element, but for its folds and what has fewer axes."""
        @cache
        def go(x: Form, order: tuple[str, ...]) -> Form:
            if not self.has_fold(x):
                return self.invariant(x, axes, order)
            if self.is_short(x) and x.axes == axes and nameless(x) not in self.anyway:
                return self.written_out(x, order)
            if x.axes != axes or x.operator == "fold" or nameless(x) in self.anyway:
                return self.keep(x, self.lying(x, order))
            if (sooner := self.streamed(x, order)) is not x:
                return go(sooner, order)
            return made(x.operator, x.attributes, tuple(map(go, x.arguments, orders_within(x, order))))

        return go(form, order)

    def is_short(self, form: Form) -> bool:
        """Whether it is a sum over three coordinates or the like, within which others have none."""
        return (self.in_terms and form.operator == "fold" and form.attributes[0] == "sum"
                and size_of(form.attributes[1], self.extents) <= SHORTEST and self.folds_deep(form) <= 2
                and not any(x.operator in ("concat", "lookup") for x in walk(form)))

    def is_of_points(self, fold: Form, order: tuple[str, ...]) -> bool:
        """Whether it is a short sum for each of many points, over what lies side by side: lanes are better of points.
        A product with a matrix is one where its results are as few."""
        tensors = [in_memory(x) for x in leaves(fold.arguments[0]) if x.operator == "load" and in_memory(x)]
        many = size_of(order, self.extents) >= MANY_ROWS
        if not tensors or not many or not self.is_short(fold) or is_pairwise(fold):
            return False
        side_by_side = max(tensors, key=len)[-1] in fold.attributes[1]
        return side_by_side and (not is_contraction(fold) or self.extent(order[-1]) <= SHORTEST)

    def written_out(self, form: Form, order: tuple[str, ...]) -> Form:
        """A short sum, as the sum of its terms."""
        _, axes = form.attributes
        inside = form.arguments[0]
        terms = [self.inlined(inside, inside.axes, (*order, *axes))]
        for axis in axes:
            terms = [substitute(x, {axis: Place((), k)}) for x in terms for k in range(self.extent(axis))]
        return plus(*terms)

    def invariant(self, form: Form, axes: tuple[str, ...], order: tuple[str, ...]) -> Form:
        """The form, computed for each element of these axes, with functions kept that others take, too, and with what
        is the same for many elements kept if it takes functions: a table of cosines that all heads are turned by, the
        variances of a mixture's components."""
        @cache
        def go(form: Form, axes: tuple[str, ...], order: tuple[str, ...]) -> Form:
            def varies(x: Form) -> bool:
                return self.varies(x, axes)

            kept = dict[Form, Form]()
            for x in walk(form, arguments=lambda x: x.arguments if varies(x) and x.operator != "concat" else ()):
                if is_function(x) and nameless(x) in self.common and x not in self.making:
                    kept[x] = self.keep(x, self.lying(x, order))
                elif not varies(x) and self.takes_functions(x):
                    kept[x] = self.keep(x, order)
                elif varies(x) and x.operator == "concat":
                    inside = map(go, x.arguments, orders_within(x, axes), orders_within(x, order))
                    kept[x] = made(x.operator, x.attributes, tuple(inside))
            return exchanged(form, kept) if kept else form

        return go(form, axes, order)

    def varies(self, x: Form, axes: Iterable[str]) -> bool:
        """Whether each value of it is for a few elements of these axes only."""
        return size_of(set(axes) - set(x.axes), self.extents) < MANY

    def takes_functions(self, x: Form) -> bool:
        if x not in self.costly:
            given = is_function(x) and any(y.operator in ("load", "position") for y in walk(x))    # else it is a number
            self.costly[x] = given or any(map(self.takes_functions, x.arguments))
        return self.costly[x]

    def has_fold(self, form: Form) -> bool:
        return self.folds_deep(form) > 0

    def folds_deep(self, form: Form) -> int:
        if form not in self.folding:
            self.folding[form] = (form.operator == "fold") + max(map(self.folds_deep, form.arguments), default=0)
        return self.folding[form]


def orders_within(form: Form, order: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The order of axes for each argument: the axis of a part of a concatenation stands where the whole one's does."""
    if form.operator != "concat":
        return [order] * len(form.arguments)
    axis, parts = form.attributes
    return [tuple(part if each == axis else each for each in order if each != axis or part is not None)
            for part in parts]


def lanes_of(x: Form, weights: Collection[str]) -> set[str]:
    """Axes along which lanes may run where this is computed. Of a contraction over weights those of the weights, over
    other tensors that are given those along which these lie in memory; all of anything else."""
    if joined := joined_along(x):
        return joined
    inner = next((y for y in reversed([*walk(x)]) if y.operator == "fold" and is_contraction(y)), None)
    given = [] if inner is None else [y for y in factors(inner.arguments[0]) if is_tensor(y)]
    packed = {axis for y in given if y.attributes[0] in weights for axis in y.axes}
    return packed or {axis for y in given for axis in in_memory(y)[-1:]} or set(x.axes)


def joined_along(x: Form) -> set[str]:
    """Axes along which tensors lie in memory that something computed is joined to, as new keys are to a cache."""
    if x.operator != "concat":
        return set()
    axis, parts = x.attributes
    bare = [(part, without_casts(y)) for part, y in zip(parts, x.arguments, strict=True)]
    given = [(part, in_memory(y)[-1:]) for part, y in bare if y.operator == "load"]
    joins = len(given) < len(bare)
    return {axis if last == part else last for part, lies in given for last in lies if joins}


def of_weights(stages: Iterable[Stage], weights: Collection[str], outputs: Collection[str]) -> frozenset[str]:
    """The targets that are made of weights alone and are no outputs, so that they need be made once. What is looked up
    in data waits, as somebody has to look whether there is such a place."""
    early = set[str]()
    for stage in stages:
        looks_up = any(x.operator == "lookup" for x in walk(stage.whole))
        if stage.target not in outputs and not looks_up and stage.reads <= {*weights, *early}:
            early.add(stage.target)
    return frozenset(early)
