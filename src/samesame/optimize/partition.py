"""Partition: forms are cut into stages, each of which computes one tensor that is kept.

What is kept is what a fold over it would compute again for every element: an operand of a contraction that is itself
computed (the hidden layer of an MLP, the weights of an attention), and what has fewer axes than what it is used in (the
scale of a row). Everything else is inlined. A stage is then one loop nest: its folds accumulate side by side for each
element, and its value is a function, element by element, of these, of earlier stages' tensors and of inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from samesame.optimize.forms import Form, along, finite, fold, load, made, size_of, substitute, times, walk
from samesame.optimize.pairs import Axes, steps
from samesame.optimize.specification import Output


@dataclass(frozen=True)
class Stage:
    """`target[axes] = value`, in which `load(name)` of a fold's name is that fold at these axes."""

    target: str
    axes: tuple[str, ...]
    value: Form
    folds: dict[str, Form] = field(default_factory=dict)
    dtype: str = ""                                  # of an output; what is kept in between is accumulated in float

    @property
    def whole(self) -> Form:
        """The value with its folds in place: what the target holds."""
        return replaced(self.value, self.folds)

    @property
    def reads(self) -> frozenset[str]:
        """The tensors it reads, inputs and targets of earlier stages."""
        return frozenset(x.attributes[0] for x in walk(self.whole) if x.operator == "load")


def stages(outputs: Iterable[Output], extents: Mapping[str, int]) -> list[Stage]:
    """The stages that compute the outputs, each after those it reads."""
    outputs = tuple(replace(output, form=in_pairs(output.form, extents)) for output in outputs)
    kept = frozenset[Form]()
    while True:                                      # what one stage must keep, another need not compute again
        cutter = _Cutter(kept)
        for output in outputs:
            cutter.output(output)
        if kept >= cutter.kept.keys():
            return cutter.stages
        kept |= cutter.kept.keys()


def in_pairs(form: Form, extents: Mapping[str, int]) -> Form:
    """The form with each sum of a product of several tensors taken in the order that multiplies least."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        memo[x] = made(x.operator, x.attributes, tuple(memo[y] for y in x.arguments)) if x.arguments else x
        if x.operator == "fold" and is_contraction(x):
            memo[x] = paired(factors(memo[x].arguments[0]), x.attributes[1], extents)
    return memo[form]


def paired(parts: Iterable[Form], over: Axes, extents: Mapping[str, int]) -> Form:
    """The sum over axes of the product of these, two at a time."""

    def flops(left: Axes, right: Axes | None, axes: Axes, spans: Axes) -> float:
        return float(size_of(spans, extents))

    numbers, tensors = list[Form](), list[Form]()
    for part in parts:
        (numbers if finite(part) else tensors).append(part)
    for left, right, axes, spans in steps([y.axes for y in tensors], over, flops)[1]:
        product = times(tensors[left], *([tensors[right]] if right is not None else []))
        tensors.append(fold("sum", set(spans) - set(axes), product))
    return times(*numbers, tensors[-1])


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
    then the factor is used again and again."""
    parts = [x for x in factors(fold.arguments[0]) if not finite(x)]
    return fold.attributes[0] == "sum" and len(parts) > 1 and any(set(fold.axes) - set(x.axes) for x in parts)


def is_operand(factor: Form, others: Iterable[Form], fold: Form) -> bool:
    """Whether the factor is a tensor with an axis of the result that no other factor has."""
    rest = {axis for other in others if other is not factor for axis in other.axes}
    return factor.operator == "load" and bool(set(factor.axes) & set(fold.axes) - rest)


class _Cutter:
    def __init__(self, anyway: frozenset[Form]) -> None:
        self.anyway = anyway                         # kept wherever they occur
        self.stages: list[Stage] = []
        self.kept: dict[Form, str] = {}
        self.folding: dict[Form, bool] = {}

    def output(self, output: Output) -> None:
        axes = tuple(axis for d in output.turned for axis in output.dims[d])
        value, folds = self.value(output.form)
        self.stages.append(Stage(output.name, axes, value, folds, output.dtype))

    def keep(self, form: Form) -> Form:
        """The form as a tensor of its own."""
        if form not in self.kept:
            value, folds = self.value(form)
            self.kept[form] = f"kept {len(self.kept)}"
            self.stages.append(Stage(self.kept[form], form.axes, value, folds))
        return load(self.kept[form], *map(along, form.axes))

    def value(self, form: Form) -> tuple[Form, dict[str, Form]]:
        """What is left of a form when its folds are names and what has fewer axes is kept."""
        folds: dict[str, Form] = {}
        named: dict[Form, Form] = {}

        def go(x: Form) -> Form:
            if not self.has_fold(x):
                return x
            if x.axes != form.axes or (x is not form and x in self.anyway):
                return self.keep(x)
            if x.operator != "fold":
                return made(x.operator, x.attributes, tuple(map(go, x.arguments)))
            if x not in named:
                named[x] = load(f"fold {len(folds)}")
                folds[named[x].attributes[0]] = self.fold(x)
            return named[x]

        return go(form), folds

    def fold(self, form: Form) -> Form:
        """The fold over operands that are kept."""
        monoid, axes = form.attributes
        body = form.arguments[0]
        if is_contraction(form):
            computed: dict[tuple[str, ...], list[Form]] = {}
            for x in factors(body):
                if self.has_fold(x):
                    computed.setdefault(x.axes, []).append(x)
            given = [x for x in factors(body) if not self.has_fold(x)]
            kept = [self.keep(times(*several)) for several in computed.values()]
            if not any(is_operand(x, [*given, *kept], form) for x in (*given, *kept)):
                given = [x if x.operator in ("load", "number") else self.keep(x) for x in given]
            operands = times(*given, *kept)
        else:
            operands = self.inlined(body, body.axes)
        return Form("fold", (monoid, axes), (operands,))

    def inlined(self, form: Form, axes: tuple[str, ...]) -> Form:
        """Computed again for each element, but for its folds and what has fewer axes."""
        if not self.has_fold(form):
            return form
        if form.axes != axes or form.operator == "fold" or form in self.anyway:
            return self.keep(form)
        return made(form.operator, form.attributes, tuple(self.inlined(x, axes) for x in form.arguments))

    def has_fold(self, form: Form) -> bool:
        if form not in self.folding:
            self.folding[form] = form.operator == "fold" or any(map(self.has_fold, form.arguments))
        return self.folding[form]


def groups(stages: list[Stage], alone: Iterable[str] = ()) -> Iterator[list[Stage]]:
    """Neighbouring stages that may share the loops over the axes they have in common; `alone` are targets that stand
    by themselves."""
    group: list[Stage] = []
    for stage in stages:
        apart = group and (stage.target in alone or group[-1].target in alone or not shared([*group, stage]))
        if apart:
            yield group
            group = []
        group.append(stage)
    if group:
        yield group


def together(stage: Stage, group: list[Stage]) -> Stage:
    """The stage with those of its group that it reads put in."""
    earlier = {other.target: other for other in group if other is not stage}
    whole = stage.whole
    while any(x.operator == "load" and x.attributes[0] in earlier for x in walk(whole)):
        whole = replaced(whole, {name: other.whole for name, other in earlier.items()},
                         {name: other.axes for name, other in earlier.items()})
    return Stage(stage.target, stage.axes, whole, {}, stage.dtype)


def shared(stages: list[Stage]) -> tuple[str, ...]:
    """The axes that all these stages have, in the first one's order."""
    return tuple(axis for axis in stages[0].axes if all(axis in stage.axes for stage in stages))
