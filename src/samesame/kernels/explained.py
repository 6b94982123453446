"""A formula, step by step: what `--explain` shows of how it came about.

    each lane stores     out*[pid·128 + lane] = {exp(x*[pid·128 + lane]) if pid·128 + lane < n else …} where …
    masks resolved       out*[pid·128 + lane] = exp(x*[pid·128 + lane])
    written by           pid = ⌊i / 128⌋, lane = i mod 128
    by the element       out[i] = exp(x*[i])
    by tensors' indices  out[i] = exp(x[i])
    as books write it    …

Loops have their closed forms already where a lane's value is first written down; the lines of those that were proved
by induction are told before. Each step is the same value under what was proved in between, and is shown where it
differs from the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from samesame.formula.expr import TRUE, Expr, Index, Size, substitute
from samesame.formula.show import latex, latex_tensor, unicode, unicode_tensor
from samesame.formula.tensor import Dim, tensor_over
from samesame.kernels.formulas.present import presentable
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.tiles.detile import Solution, Write
from samesame.kernels.verdict import Stage


def loops(steps: Mapping[str, int]) -> Iterator[Stage]:
    """The loops that were summarised, with the steps proved by induction."""
    for place, count in steps.items():
        text = f"{count} inductive {'step' if count == 1 else 'steps'}"
        yield Stage("loop summarised", text, rf"\text{{{text}}}", place)


def stores(name: str, write: Write, programs: Sequence[Index], simplify: Simplifier) -> Iterator[Stage]:
    """What a lane stores, as the kernel says it, and without what its own mask decides."""
    place = str(write.access.place)
    first = stored(name, write, write.value, programs, place, "each lane stores")
    yield first
    second = stored(name, write, simplify(write.value, write.facts), programs, place, "masks resolved")
    if second.text != first.text:
        yield second


def stored(name: str, write: Write, value: Expr, programs: Sequence[Index], place: str, title: str) -> Stage:
    called = names_of(write, programs)
    offset, shown, condition = (
        presentable(substitute(e, called)) for e in (write.offset, value, write.condition)
    )
    where_ = "" if condition is TRUE else f" where {unicode(condition)}"
    also = "" if condition is TRUE else rf"\quad \text{{where }} {latex(condition)}"
    return Stage(
        title,
        f"{name}*[{unicode(offset)}] = {unicode(shown)}{where_}",
        rf"\mathtt{{{name}}}^*_{{{latex(offset)}}} = {latex(shown)}{also}",
        place,
    )


def names_of(write: Write, programs: Sequence[Index]) -> dict[Index, Expr]:
    """Words for programs, iterations and lanes, instead of letters, and for the parts of a program id that the kernel
    takes apart."""
    found: dict[Index, Expr] = {}
    lanes = [v for v in write.lanes if v in write.variables]
    for word, alike in (
        ("pid", [v for v in write.variables if v in programs]),
        ("iteration", [v for v in write.variables if v in write.access.loops]),
        ("lane", lanes),
        ("part", [v for v in write.variables if v not in (*programs, *write.access.loops, *lanes)]),
    ):
        for k, v in enumerate(alike):
            number = programs.index(v) if word == "pid" else k
            found[v] = Size(word if len(alike) == 1 else f"{word}{number}", 0)
    return found


def writers(solution: Solution, programs: Sequence[Index]) -> Stage:
    """Which program and lane write an element."""
    write = solution.write
    known = names_of(write, programs)
    pairs = [(known[v], presentable(e)) for v, e in solution.values.items()]
    texts = [unicode_tensor(str(cast(Size, v).name), tensor_over(solution.indices, e)) for v, e in pairs]
    latexes = [latex_tensor(str(cast(Size, v).name), tensor_over(solution.indices, e)) for v, e in pairs]
    return Stage("written by", ", ".join(texts), r",\ ".join(latexes), str(write.access.place))


def by_indices(title: str, name: str, shape: Sequence[Dim], indices: tuple[Index, ...], expr: Expr) -> Stage:
    """The whole tensor's formula at this step."""
    whole = tensor_over(indices, presentable(expr), tuple(shape))
    return Stage(title, unicode_tensor(name, whole), latex_tensor(name, whole), "")
