"""Groups: stages that share the loops over the axes they have in common; what one makes is near for the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import prod

from samesame.optimize.forms import along, walk
from samesame.optimize.lengths import written
from samesame.optimize.lying import table_of
from samesame.optimize.partition import MANY_ROWS, Stage, replaced
from samesame.optimize.shared import is_function

IN_ONE_KERNEL = 100                                  # folds in the formula of what a kernel makes


def groups(
    stages: list[Stage], alone: Iterable[str] = (), early: Collection[str] = ()
) -> Iterator[list[Stage]]:
    """Neighbouring stages that may share the loops over the axes they have in common; `alone` are targets that stand
    by themselves, `early` those that are made once. What a kernel makes is proved as one formula of all of its group,
    so that many steps of an iteration are several groups, though all have the same rows."""
    group: list[Stage] = []
    folds: dict[str, int] = {}
    for stage in stages:
        apart = group and (stage.target in alone or group[-1].target in alone or not shared([*group, stage])
                           or elsewhere(stage, group) or (stage.target in early) is not (group[-1].target in early)
                           or folds_in(stage, folds) > IN_ONE_KERNEL)
        if apart:
            yield group
            group, folds = [], {}
        group.append(stage)
        folds[stage.target] = folds_in(stage, folds)
    if group:
        yield group


def folds_in(stage: Stage, within: Mapping[str, int]) -> int:
    """How many folds a stage's formula has, as it is written, where what it reads has so many."""
    return written(stage.whole, lambda x: within.get(x.attributes[0], 0) if x.operator == "load" else
                   int(x.operator == "fold"))


def ended(group: list[Stage], extents: Callable[[str], int]) -> list[list[Stage]]:
    """A group of rows, and by itself what each row has one of at its end, where that takes functions of many rows: it
    runs in lanes, then."""
    axes, k = set(shared(group)), len(group)
    while k and not group[k - 1].folds and {*group[k - 1].axes} == axes:
        k -= 1
    costly = any(map(is_function, walk(*(stage.value for stage in group[k:]))))
    return [group[:k], group[k:]] if k and costly and prod(map(extents, axes)) >= MANY_ROWS else [group]


def elsewhere(stage: Stage, group: Iterable[Stage]) -> bool:
    """Whether a stage reads what one of the group makes at other axes than it is made at."""
    own = {other.target: tuple(map(along, other.axes)) for other in group}
    looked_up = any(x.operator == "lookup" and table_of(x).attributes[0] in own for x in walk(stage.whole))
    return looked_up or any(x.operator == "load" and x.attributes[1:] != own.get(x.attributes[0], x.attributes[1:])
                            for x in walk(stage.whole))


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
