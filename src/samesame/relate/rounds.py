"""Rounds: a loop that was recorded step by step, read back from the graph that is left of it.

A program that goes over the steps of a sequence leaves the same operators once a round. Each round reads what the round
before it made (what is carried), the row of its own number, and what stands before the loop. What comes after the loop
reads the last round, or one tensor of every round, stacked. `loops_of` finds such stretches of a graph, one after
the other; nothing is taken for a loop that departs from this anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from samesame.graph import Graph, Node, map_nodes
from samesame.operators.table import packet

LEAST = 3                                                  # rounds that make a loop
LONGEST = 2000                                             # operators of a graph that is looked through
TRIED = 200                                                # stretches, each from so many places, that are looked into
UNBOUND, SELECTED = "aten.unbind", "aten.select.int"
STACKED = ("aten.stack", "aten.cat")


@dataclass(frozen=True, slots=True)
class Stack:
    """A node after the loop that puts one tensor of every round together: its place in a round, the dimension, and
    whether the last round comes first."""

    place: int
    dim: int
    turned: bool


@dataclass(frozen=True, slots=True)
class Rounds:
    """The loop of a graph, whose rows are selected one by one: `rounds` are its nodes, round by round; `initial` has
    what is carried, by its place in a round, as it is before the first; `stacks` what collects rounds afterwards, and
    `last` the places of what is read of the last round alone."""

    graph: Graph
    rounds: tuple[tuple[Node, ...], ...]
    initial: dict[int, Node]
    stacks: dict[Node, Stack]
    last: frozenset[int]

    @property
    def read(self) -> list[int]:
        """Places in a round that other rounds, or what comes after them, read."""
        return sorted({*self.initial, *self.last, *(stack.place for stack in self.stacks.values())})


def rounds_of(graph: Graph, among: Collection[int] | None = None) -> Rounds | None:
    """The longest loop of a graph, whose number of rounds is `among` these."""
    return next(loops_of(graph, among=among), None)


def loops_of(
    graph: Graph, period: int | None = None, among: Collection[int] | None = None
) -> Iterator[Rounds]:
    """The loops of a graph, the longest first, that have no operator in common. Their number of rounds is `among`
    these; with a `period` a round has so many operators, and they may go round twice only."""
    if len(graph.nodes) > LONGEST:
        return
    graph = selecting(graph)
    nodes = [node for node in graph.nodes if not node.is_source]
    numbers: dict[Any, int] = {}
    said = [numbers.setdefault(_said(node), len(numbers)) for node in nodes]
    least = LEAST if period is None else 2
    periods = range(1, len(said) // least + 1) if period is None else [period]
    fewest = least if among is None else max(least, min(among, default=least))
    taken: set[Node] = set()
    for step, runs in islice(_starts(nodes, said, periods, fewest), TRIED):
        for start, count in runs:
            rounds = [tuple(nodes[k : k + step]) for k in range(start, start + count * step, step)]
            wanted = count >= least and (among is None or count in among)
            loop = _loop(graph, rounds) if wanted and taken.isdisjoint(rounds[0] + rounds[-1]) else None
            if loop is not None:
                taken.update(node for of_round in rounds for node in of_round)
                yield loop


def last_of(loop: Rounds, count: int) -> Rounds | None:
    """The loop of the last rounds, so many; None where they are none by themselves."""
    return loop if len(loop.rounds) == count else _loop(loop.graph, loop.rounds[-count:])


def selecting(graph: Graph) -> Graph:
    """The graph with sources first, and rows that are taken apart all at once selected where they are read."""
    waiting: dict[Node, Node] = {}
    now: dict[Node, Node] = {}
    made: list[Node] = list(graph.sources("input"))
    made += [node for node in graph.nodes if node.is_source and node.operator != "input"]

    def read(node: Node) -> Node:
        if node in waiting:
            row = waiting.pop(node)
            now[node] = row = replace(row, args=(read(row.args[0]), *row.args[1:]))
            made.append(row)
        return now.get(node, node)

    for node in graph.nodes:
        if node.operator == "getitem" and packet(node.args[0].operator) == UNBOUND:
            whole = node.args[0]
            dim = whole.args[1] if len(whole.args) > 1 else whole.kwargs.get("dim", 0)
            waiting[node] = replace(node, operator=SELECTED, args=(whole.args[0], dim, node.args[1]), kwargs={})
        elif not node.is_source and packet(node.operator) != UNBOUND:
            args = map_nodes(read, node.args)
            kwargs = {name: map_nodes(read, value) for name, value in node.kwargs.items()}
            now[node] = replace(node, args=args, kwargs=kwargs)
            made.append(now[node])
    roots = tuple((name, read(root)) for name, root in graph.roots)
    return replace(graph, nodes=tuple(made), roots=roots)


def leaves(argument: Any) -> Iterator[Any]:
    """Nodes and plain values of a nested argument, from left to right."""
    if isinstance(argument, dict):
        argument = tuple(argument.values())
    if isinstance(argument, tuple):
        for part in argument:
            yield from leaves(part)
    else:
        yield argument


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, int) and not isinstance(leaf, bool)


def _said(node: Node) -> Any:
    """What a node says, but for which tensors it reads and for whole numbers."""

    def shown(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple(map(shown, argument))
        return "tensor" if isinstance(argument, Node) else "number" if _is_number(argument) else repr(argument)

    return node.operator, node.type, shown(node.args), tuple((name, shown(part)) for name, part in node.kwargs.items())


def _stretches(said: Sequence[int], periods: Iterable[int], least: int) -> list[tuple[int, int, int]]:
    """Where what is said repeats `least` times: from where, after how many, how long; the longest first, and the
    shortest rounds."""
    found = []
    for period in periods:
        run = 0
        for place in range(len(said) - period + 1):
            same = place + period < len(said) and said[place] == said[place + period]
            if not same and run >= period * (least - 1):
                found.append((place - run, period, run + period))
            run = run + 1 if same else 0
    return sorted(found, key=lambda stretch: (-(stretch[2] // stretch[1]) * stretch[1], stretch[1]))


def _starts(
    nodes: Sequence[Node], said: Sequence[int], periods: Iterable[int], fewest: int
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """How long rounds may be, and for each place where they may begin the runs of them, the longest first: where each
    starts, and how many rounds it has. Within a run each round follows from the one before in the same way: of several
    loops that do the same, one behind the other, each is such a run."""
    at = {node: k for k, node in enumerate(nodes)}
    flat = [tuple(leaves((node.args, node.kwargs))) for node in nodes]
    for first, step, length in _stretches(said, periods, fewest):
        ways: dict[int, list[Any]] = {}
        for k in range(first + step, first + length):
            ways[k] = [b - a if _is_number(b) else b if b is a or at.get(b, -1) < first else k - at[b]
                       for a, b in zip(flat[k - step], flat[k], strict=True) if _is_number(b) or isinstance(b, Node)]
        uneven = [k for k in range(first + 2 * step, first + length) if ways[k] != ways[k - step]]
        for start in range(first, first + step):
            count = (length - (start - first)) // step
            breaks = sorted({(k - start) // step for k in uneven} & {*range(2, count)})
            runs = [(start + (begun - 1) * step, ended - (begun - 1))
                    for begun, ended in zip([1, *breaks], [*breaks, count], strict=True)]
            yield step, sorted(runs, key=lambda run: -run[1])


def _loop(graph: Graph, rounds: Sequence[tuple[Node, ...]]) -> Rounds | None:
    """The loop of these rounds; None where they are none."""
    at = {node: (number, place) for number, nodes in enumerate(rounds) for place, node in enumerate(nodes)}
    initial: dict[int, Node] = {}
    for same in zip(*rounds, strict=True):
        for column in zip(*(leaves((node.args, node.kwargs)) for node in same), strict=True):
            if not (_are_numbers(column) if _is_number(column[0]) else
                    _are_tensors(column, at, rounds, initial) if isinstance(column[0], Node) else True):
                return None
    stacks: dict[Node, Stack] = {}
    last: set[int] = set()
    for node in graph.nodes[graph.nodes.index(rounds[-1][-1]) + 1 :]:
        read = [part for part in node.inputs if part in at]
        stack = _stack(node, at, len(rounds)) if len(read) == len(node.inputs) else None
        if stack is not None:
            stacks[node] = stack
        elif not all(at[part][0] == len(rounds) - 1 for part in read):
            return None
        else:
            last.update(at[part][1] for part in read)
    outside = [root for _, root in graph.roots if root in at]
    if not initial or any(at[root][0] < len(rounds) - 1 for root in outside):
        return None
    return Rounds(graph, tuple(rounds), initial, stacks, frozenset(last | {at[root][1] for root in outside}))


def _are_numbers(column: Sequence[int]) -> bool:
    """Does a number grow by the same from round to round?"""
    return all(a - b == column[1] - column[0] for a, b in zip(column[1:], column, strict=False))


def _are_tensors(
    column: Sequence[Node], at: dict[Node, tuple[int, int]], rounds: Sequence[tuple[Node, ...]],
    initial: dict[int, Node],
) -> bool:
    """Is it the same tensor of each round, or one from before, or what is carried?"""
    places = [at.get(node) for node in column]
    if all(place is None for place in places):
        return len(set(column)) == 1
    if any(place is None for place in places[1:]):
        return False
    numbers, at_once = zip(*(place for place in places[1:] if place), strict=True)
    if len(set(at_once)) > 1:
        return False
    if list(numbers) == list(range(1, len(column))):
        return places[0] == (0, at_once[0])
    carried = rounds[0][at_once[0]]
    if list(numbers) != list(range(len(column) - 1)) or places[0] is not None or column[0].type != carried.type:
        return False
    return initial.setdefault(at_once[0], column[0]) is column[0]


def _stack(node: Node, at: dict[Node, tuple[int, int]], count: int) -> Stack | None:
    """What puts one tensor of every round together, in order or in the other."""
    if packet(node.operator) not in STACKED or not isinstance(node.args[0], tuple):
        return None
    numbers, places = zip(*(at[part] for part in node.args[0]), strict=True)
    given = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
    dim = given % len(node.shape)
    parted = packet(node.operator) == "aten.cat" and node.args[0][0].shape[dim] != 1
    if len(set(places)) > 1 or list(numbers) not in (list(range(count)), list(range(count))[::-1]) or parted:
        return None
    return Stack(places[0], dim, numbers[0] > 0)
