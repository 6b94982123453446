"""Learnt rules: blocks of real programs that `check` proved equal, from a store, as rewrites of the e-graph.

A stored rule has two sides over tensors whose sizes are symbols. Where all it holds are words, its sides are a line of
a table like those of `rules.py`, read in both directions, on tensors whose sizes are the rule's for some values of its
symbols. The proof is over the reals, and so is the rule. One that holds under conditions or at certain sizes only is
left out, and so is a stale one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from samesame.egraph import Operand, Rule, rules
from samesame.evidence import LADDER, Rung, SamesameError
from samesame.formula.expr import Expr, Size
from samesame.formula.sizes import symbols, value_at
from samesame.formula.tensor import Dim
from samesame.fuzz.own import step_of
from samesame.fuzz.rules import dtype, rank, shape, single
from samesame.fuzz.terms import word_of
from samesame.graph import Node, TensorType
from samesame.graph.text import from_json
from samesame.store import Entry, Store
from samesame.versions import versions


@cache
def learnt(path: str) -> tuple[Rule, ...]:
    """The rules of the store in this file that are rewrites; none where the path is "". Raises SamesameError."""
    if not path:
        return ()
    if not Path(path).exists():
        raise SamesameError(f"there is no store {path}; `samesame check --store {path}` makes one of what it proves")
    prover, semantics = versions()
    with Store.open(path, prover=prover, semantics=semantics) as store:
        return tuple(rule for entry in store.all() for rule in rewrites(entry))


def rewrites(entry: Entry) -> tuple[Rule, ...]:
    """A stored rule in both directions; none where it is no rewrite."""
    graph, proved = from_json(entry.body["graph"]), entry.evidence
    everywhere = proved["rung"] == LADDER[Rung.PROVED] and not proved["conditions"] and not entry.body["ranges"]
    types = {node.name: node.type for node in graph.nodes if isinstance(node.type, TensorType)}
    if entry.stale or not everywhere or len(types) < len(graph.nodes):
        return ()
    sides = [_written(root, types) for _, root in graph.roots]
    given = sorted(node.name for node in graph.sources("input"))
    called = f"fits({', '.join(given)})"
    fits = _fits([types[name] for name in given])
    return tuple(
        rule
        for k, (left, right) in enumerate((sides, sides[::-1]))
        if "(" in left and right and all(re.search(rf"\b{name}\b", left) for name in given)
        for rule in rules(f"learnt-{entry.key[:12]}-{k} {left} = {right} if {called}", fits)
    )


def _written(node: Node, types: Mapping[str, TensorType]) -> str:
    """A side as the text of a term; "" where it holds what is no word."""
    if node.operator == "input":
        return node.name
    if node.is_source:
        return ""
    word = word_of(step_of(node, {other: other.name for other in (node, *node.inputs)}), lambda x: len(types[x].shape))
    below = [_written(argument, types) for argument in node.inputs]
    if word is None or not all(below) or any(isinstance(attribute, Expr) for attribute in word[1]):
        return ""
    attributes = ", ".join(map(repr, word[1]))
    return f"{word[0]}({', '.join(below)}{'; ' if attributes else ''}{attributes})"


def _fits(types: Sequence[TensorType]) -> Callable[..., bool]:
    """Whether tensors have these types, as a rule's clause asks."""

    def fits(*given: Operand) -> bool:
        if len({dtype(x) for x in given}) > 1 or not all(map(single, given)):
            return False
        if any(rank(x) != len(type.shape) for x, type in zip(given, types, strict=True)):
            return False
        declared: Iterable[Dim] = chain.from_iterable(type.shape for type in types)
        pairs = list(zip(declared, chain.from_iterable(map(shape, given)), strict=True))
        values = {size.name: length for size, length in pairs if isinstance(size, Size) and length >= size.minimum}
        named = {symbol.name for size, _ in pairs for symbol in symbols(size)}
        return named <= set(values) and all(value_at(size, values) == length for size, length in pairs)

    return fits
