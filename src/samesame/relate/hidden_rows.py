"""Hidden rows: a mask that leaves nothing of a row, a length of 0.

An example seldom has one, and a division by what is left is no number there: a proof says that this is not 0, in its
list of conditions. Where one program divides, and the other asks first whether anything is left, they part on a mask
that hides a row whole, and an answer that is "same" without a word of it says too much. So both programs also run on
the example with a line of each flag hidden, all of it, with counts of 0, with integers in a line that are all a number
with which a program compares them, and with a place left out of those that elements are put at. Where they part, no
number on one side included, the headline excludes such inputs. Masks that are made of others, or of reals, are not
looked for. Inputs on which either side fails are in no program's domain.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph
from samesame.operators.kept import Over
from samesame.relate.draws import Draw, agree_at_roots, run_both
from samesame.relate.flags import is_flag
from samesame.relate.named_numbers import INTEGERS, named_numbers

PLACES = 8                  # of which each is left out once


def with_hidden_rows(graphs: tuple[Graph, Graph], example: Draw) -> list[str]:
    """Conditions for a headline: the inputs on which both programs run and part. The inputs are the left's on both
    sides, in order."""
    found = list[str]()
    named = tuple(map(named_numbers, graphs))
    for mine, yours in zip(*(graph.sources("input") for graph in graphs), strict=True):
        name, value = graphs[0][mine.name].origin.parameter or mine.name, example.left[mine.name]
        numbers = {*named[0].get(mine.name, ()), *named[1].get(yours.name, ())}
        for told, changed in (*_emptied(name, value), *_of_one_number(name, value, sorted(numbers))):
            fresh = Draw(told, Over({mine.name: changed}, example.left), Over({yours.name: changed}, example.right))
            if told not in found and _part(graphs, fresh):
                found.append(told)
    return found


def _part(graphs: tuple[Graph, Graph], fresh: Draw) -> bool:
    try:
        runs = run_both(graphs, fresh)
    except SamesameError:                  # a number made of nothing may be no index
        return False
    return runs is not None and not agree_at_roots(graphs, runs)


def _emptied(name: str, value: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """What a mask or a count is not to be, and the input as it is then."""
    if value.dtype == torch.bool or is_flag(value):
        for number in (False, True) if value.numel() else ():
            spoken = number if value.dtype == torch.bool else int(number)
            yield from _lines(name, value, number, str(spoken))
            told = f"no row of {name} is" if value.dim() > 1 else f"{name} is not"
            yield f"if {told} {spoken} throughout", torch.full_like(value, number)
    elif value.dtype in INTEGERS and value.numel() and bool((value > 0).all()):
        changed = value.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[0] = 0
        yield f"if no element of {name} is 0", changed


def _of_one_number(name: str, value: torch.Tensor, numbers: list[int]) -> Iterator[tuple[str, torch.Tensor]]:
    """Integers as a row that a program hides by comparing them, and as places of which one is left out."""
    if value.dtype not in INTEGERS or not value.numel() or is_flag(value):
        return
    limits = torch.iinfo(value.dtype)
    for number in numbers:
        if limits.min <= number <= limits.max:
            yield from _lines(name, value, number, str(number))
    held = torch.unique(value)
    if len(held) > 1 and torch.equal(held, torch.arange(len(held), dtype=value.dtype)):
        for place in range(min(len(held), PLACES)):
            without = torch.where(value == held[place], held[place - 1], value)
            yield f"if {name} leaves out no number from 0 to its largest", without


def _lines(name: str, value: torch.Tensor, number: int, spoken: str) -> Iterator[tuple[str, torch.Tensor]]:
    """With a line of one number along each dimension, the last one first: the first line there, and one amid."""
    for dim in reversed(range(value.dim())):
        row = "row" if dim == value.dim() - 1 else f"line along dimension {dim}"
        told = f"if no {row} of {name} is {spoken} throughout" if value.dim() > 1 else (
            f"if {name} is not {spoken} throughout")
        for at in (lambda n: 0, lambda n: n // 2):
            changed = value.clone()
            changed[tuple(slice(None) if d == dim else at(n) for d, n in enumerate(value.shape))] = number
            yield told, changed
