"""Hidden rows: a mask that leaves nothing of a row, a length of 0.

An example seldom has one, and a division by what is left is no number there: a proof says that this is not 0, in its
list of conditions. Where one program divides, and the other asks first whether anything is left, they part on a mask
that hides a row whole, and an answer that is "same" without a word of it says too much. So both programs also run on
the example with a row of each flag hidden, all of it, and with counts of 0. Where they part, no number on one side
included, the headline excludes such inputs. Inputs on which either side fails are in no program's domain.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph
from samesame.operators.kept import Over
from samesame.relate.draws import Draw, agree_at_roots, run_both
from samesame.relate.flags import is_flag

WHOLE = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))


def with_hidden_rows(graphs: tuple[Graph, Graph], example: Draw) -> list[str]:
    """Conditions for a headline: the inputs on which both programs run and part. The inputs are the left's on both
    sides, in order."""
    found = list[str]()
    for mine, yours in zip(*(graph.sources("input") for graph in graphs), strict=True):
        name = graphs[0][mine.name].origin.parameter or mine.name
        for told, value in _emptied(name, example.left[mine.name]):
            fresh = Draw(told, Over({mine.name: value}, example.left), Over({yours.name: value}, example.right))
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
    """What an input is not to be, and the input as it is then."""
    if value.dtype == torch.bool or is_flag(value):
        for number in (False, True) if value.numel() else ():
            rows = f"no row of {name} is" if value.dim() > 1 else f"{name} is not"
            told = f"if {rows} {number if value.dtype == torch.bool else int(number)} throughout"
            yield told, _with_first(value, value.shape[-1:].numel(), number)
            yield told, torch.full_like(value, number)
    elif value.dtype in WHOLE and value.numel() and bool((value > 0).all()):
        yield f"if no element of {name} is 0", _with_first(value, 1, 0)


def _with_first(value: torch.Tensor, count: int, number: float) -> torch.Tensor:
    """With so many elements, the first ones in order, of one number."""
    changed = value.clone(memory_format=torch.contiguous_format)
    changed.view(-1)[:count] = number
    return changed
