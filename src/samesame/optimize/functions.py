"""Functions that several sums of a row take of the same are taken once, and so is much arithmetic.

A softmax needs exp(x − max x) for its sum and once more for its values, and a capped one tanh for its maximum before
that. Stages compute what they need again for each of their sums; a function, or `MUCH` arithmetic, costs more than to
write its value down in a row's own scratch and to read it again. So what is taken twice becomes a stage of its own, the
largest first.
Contractions, and what is made for them, are left as they are: their operands are kept already, or made in one pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from samesame.optimize.forms import Form, along, exchanged, load, walk
from samesame.optimize.lying import as_it_lies
from samesame.optimize.names import Digests
from samesame.optimize.partition import Stage, is_contraction, is_pairwise
from samesame.optimize.shared import CHEAP

Extent = Callable[[str], int]
MUCH = 16                                            # operations
ARITHMETIC = frozenset({"plus", "minus", "times", "power", "where", "extremum"})


def taken_once(stages: list[Stage], extent: Extent, integers: Collection[str]) -> list[Stage]:
    """The stages with others before them, for what they take functions of more than once. `integers` are tensors of
    these: what is computed of them has to stay exact, and is never kept."""
    done, digests = list(stages), Digests(extent)
    while (found := _twice(done, digests, integers)) is not None:
        done = _with(done, found, digests)
    return done


def _twice(stages: Sequence[Stage], digests: Digests, integers: Collection[str]) -> Form | None:
    """The largest form that costs something and that more than one pass takes."""
    times, first = Counter[object](), dict[object, Form]()
    for stage in _rows(stages):
        for several in passes(stage, digests.extent):
            own = {digests.renamed(x)[0]: x for axes, form in several for x in _costly(form, axes, stage, integers)}
            times.update(own.keys())
            first |= {key: x for key, x in own.items() if key not in first}
    often = [first[key] for key, n in times.items() if n > 1]
    return max(often, key=lambda x: x.height, default=None)


def _with(stages: Sequence[Stage], form: Form, digests: Digests) -> list[Stage]:
    """The stages with one for the form before the first that takes it, and its elements in all that do."""
    key, names = digests.renamed(form)
    target, done, order = f"kept {len(stages)}", list[Stage](), None
    rows = {stage.target for stage in _rows(stages)}

    def put(x: Form, order: tuple[str, ...]) -> Form:
        there = {y: digests.renamed(y) for y in walk(x) if (y.operator, y.height) == (form.operator, form.height)}
        others = {y: load(target, *(along(dict(zip(names, own, strict=True))[axis]) for axis in order))
                  for y, (other, own) in there.items() if other == key}
        return exchanged(x, others) if others else x

    for stage in stages:
        if stage.target in rows:
            if order is None and (found := next((u for u in _units(stage) if form in {*walk(u[1])}), None)):
                order = as_it_lies(form, (*dict.fromkeys((*found[0], *form.axes)),))   # a part has one of its own
                done.append(Stage(target, order, form))
            if order is not None:                          # one without axes is one number
                folds = {name: Form("fold", fold.attributes, (put(fold.arguments[0], order),))
                         for name, fold in stage.folds.items()}
                stage = replace(stage, value=put(stage.value, order), folds=folds)
        done.append(stage)
    return done


def _rows(stages: Sequence[Stage]) -> Iterator[Stage]:
    """Stages without contractions that no contraction reads."""
    products = [stage for stage in stages if any(map(_multiplies, stage.folds.values()))]
    read = frozenset[str]().union(*(stage.reads for stage in products))
    return (stage for stage in stages if stage not in products and stage.target not in read)


def _multiplies(fold: Form) -> bool:
    return is_contraction(fold) or is_pairwise(fold)


def passes(stage: Stage, extent: Extent) -> list[list[tuple[tuple[str, ...], Form]]]:
    """What is computed element by element, that together which one loop computes: folds over as many elements."""
    found: dict[tuple[int, ...], list[tuple[tuple[str, ...], Form]]] = {}
    for axes, form in _units(stage):
        found.setdefault(tuple(map(extent, axes[len(stage.axes):])), []).append((axes, form))
    return list(found.values())


def _units(stage: Stage) -> Iterator[tuple[tuple[str, ...], Form]]:
    """What is computed element by element in one go, with the axes that it runs over."""
    yield stage.axes, stage.value
    for fold in stage.folds.values():
        yield (*stage.axes, *fold.attributes[1]), fold.arguments[0]


def _costly(form: Form, axes: tuple[str, ...], stage: Stage, integers: Collection[str]) -> Iterator[Form]:
    """Parts of the form that are a function's value or take much, another one for each element, and are of nothing that
    the stage sums up. Arithmetic of integers is none of them: it is kept as reals are, in which large ones are one."""
    operations, summed = dict[Form, int](), set[Form]()      # as many as there are, each as often as it is read
    whole = set[Form]()
    for x in walk(form):
        own = max(len(x.arguments) - 1, 0) if x.operator in ARITHMETIC else x.operator == "fn"
        operations[x] = min(own + sum(operations[y] for y in x.arguments), MUCH)
        function = x.operator == "fn" and x.attributes[0] not in CHEAP
        counted = x.operator == "position" or (x.operator == "load" and x.attributes[0] in integers)
        if counted or (x.operator not in ("compare", "fn") and not whole.isdisjoint(x.arguments)):
            whole.add(x)
        if (x.operator == "load" and x.attributes[0] in stage.folds) or not summed.isdisjoint(x.arguments):
            summed.add(x)
        elif {*x.axes} == {*axes} and (
                function or (x.operator in ARITHMETIC and operations[x] == MUCH and x not in whole)):
            yield x
