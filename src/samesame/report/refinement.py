"""The verdict of `refine` for people: how each output lies on the ranks, and where a distributed program goes astray.

The order is that of every report: the answer, then, if it is no, where the ranks lose the sequential program and what
would mend it, then what the answer stands on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import IO

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from samesame.evidence import Collective, Refinement, Relation, Rung
from samesame.report import terminal
from samesame.report.terminal import WIDEST
from samesame.report.words import QUIET, below, counted, indented, place_in_words, rung_in_words, site_in_words

COLOUR = {"refines": "bold green", "does not refine": "bold red", "undecided": "bold yellow"}
_NAMED = 2                      # outputs that the headline names because they are not whole on every rank
_SHOWN = 12                     # outputs that are listed, unless all are asked for


def render(verdict: Refinement, verbose: bool = False, width: int | None = None) -> RenderableType:
    """The whole report. `width` in columns, at most."""
    blocks: list[RenderableType] = [headline(verdict), *_programs(verdict)]
    for title, section in SECTIONS:
        rows = list(section(verdict, verbose))
        if rows:
            blocks += [Text(), Text(title, style="bold"), *map(indented, rows)]
    blocks += [Text(), terminal.footer(verdict)]
    return Constrain(Group(*blocks), min(width or WIDEST, WIDEST))


def print_report(
    verdict: Refinement, file: IO[str] | None = None, verbose: bool = False, width: int | None = None
) -> None:
    """Print the report to `file` (default: stdout), in colour where that is a terminal that has it."""
    terminal.print_rendered(lambda: render(verdict, verbose, width), file, width)


def plain_text(verdict: Refinement, verbose: bool = False, width: int = 100) -> str:
    """The report as text without colour."""
    return terminal.plain(render(verdict, verbose, width), width)


def headline(verdict: Refinement) -> Text:
    """The verdict in one line."""
    return Text.assemble((verdict.verdict, COLOUR[verdict.verdict]), "   ", _answer(verdict))


def _answer(verdict: Refinement) -> str:
    outputs, ranks = verdict.outputs, counted(verdict.world_size, "rank")
    if verdict.verdict == "refines":
        tally = terminal.tally([*verdict.input_relation, *verdict.relations])
        provided = f", if {' and '.join(verdict.provided)}" if verdict.provided else ""
        where = f"{counted(len(outputs), 'output')} on {ranks}{_elsewhere(verdict)}"
        tried = f", {' and '.join(verdict.tried)} tested" if verdict.tried else ""
        return f"{where}, {verdict.evidence}{tried}{provided}{tally}"
    failing = [output for output in outputs if output.evidence.rung is Rung.REFUTED]
    if verdict.verdict == "does not refine":
        if verdict.stuck:
            return verdict.stuck
        more = f", and {len(failing) - 1} of {len(outputs) - 1} other outputs" if len(failing) > 1 else ""
        return f"output {failing[0].name}: {failing[0].words}{more}"
    left = [output.name for output in outputs if output.evidence.rung is Rung.UNDECIDED]
    return f"{', '.join(left[:4])}{', …' if len(left) > 4 else ''} neither proved nor refuted on {ranks}"


def _elsewhere(verdict: Refinement) -> str:
    """The outputs that are not whole on every rank, gradients aside, in brackets."""
    cut = [output for output in verdict.outputs if not output.name.startswith("grad.")]
    told = [f"{output.name} {output.words}" for output in cut if output.words != "replicated on every rank"]
    more = [f"{len(told) - _NAMED} more elsewhere"] if len(told) > _NAMED else []
    return f" ({'; '.join([*told[:_NAMED], *more])})" if told else ""


def _programs(verdict: Refinement) -> Iterator[RenderableType]:
    if verdict.left != "left":
        yield Text.assemble(("  program  ", QUIET), f"{verdict.left}, on {counted(verdict.world_size, 'rank')}")


def _loss(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    found = verdict.loss
    if found is None:
        return
    yield site_in_words(found.operator)
    yield Text("is the first sequential operator that the ranks do not hold. It reads:", style=QUIET)
    yield from map(Text, found.inputs)
    yield from (Text(line, style="bold") for line in found.instead)


def _edits(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    if verdict.verdict == "does not refine" and verdict.loss is not None and not verdict.diagnosis:
        yield Text("no change at one place of every rank was found that mends it")
    for number, edit in enumerate(verdict.diagnosis):
        where = place_in_words(edit.site.origin)
        opening = "It refines if" if number == 0 else "or if"
        yield Text.assemble(f"{opening} ", (edit.description, "bold"), f"  ({where})" if where else "")
        yield below("verified on values: with this edit every output is where it should be, on every draw")


def _outputs(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    order = sorted(verdict.outputs, key=lambda output: output.evidence.rung)
    for output in order if verbose else order[:_SHOWN]:
        words = rung_in_words(output.evidence)
        if output.evidence.detail and (verbose or output.evidence.rung <= Rung.TESTED):
            words.append(f"\n{output.evidence.detail}", style=QUIET)
        table.add_row(Text(output.name), Text(output.words), words)
    if table.row_count:
        yield table
    if len(order) > table.row_count:
        yield Text(f"and {len(order) - table.row_count} more (--verbose lists all)", style=QUIET)


def _sizes(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    """What a proof about graphs of fixed sizes ranges over."""
    if verdict.sizes.varying:
        yield Text(f"for every {', '.join(verdict.sizes.varying)}")
    if verdict.sizes.ran:
        yield Text(f"proposed by runs at {'; '.join(verdict.sizes.ran)}", style=QUIET)
    for reason in verdict.sizes.fixed:
        yield Text(f"not varied: {reason}", style=QUIET)


def _collectives(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    table = Table.grid(padding=(0, 3))

    def key(found: Collective) -> tuple[str, int, str]:
        return found.kind, len(found.group), place_in_words(found.origin)

    for (kind, ranks, where), members in groupby(sorted(verdict.collectives, key=key), key):
        times = len(list(members))
        often = f"{times} times" if times > 1 else ""
        table.add_row(*map(Text, (kind, counted(ranks, "rank"), often, where)))
    if table.row_count:
        yield table


def _relations(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    yield from terminal.relations_by_place(verdict.relations, verbose)


def _sources(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    """A line for each sequential tensor that the ranks hold in pieces, by the pieces of the first and the last."""
    if verbose:
        yield from terminal.given_relations(verdict.input_relation, verbose)
        return
    pieces: dict[str, list[Relation]] = {}
    whole = set[str]()
    for relation in verdict.input_relation:
        name = relation.left_origin.parameter or relation.left[0]
        if relation.layout in relation.left:
            whole.add(name)
        else:
            pieces.setdefault(name, []).append(relation)
    table = Table.grid(padding=(0, 3))
    for name, members in pieces.items():
        first, last = members[0], members[-1]
        words = [f"{relation.right} = {relation.layout}" for relation in dict.fromkeys((first, last))]
        table.add_row(Text(name), Text(" … ".join(words)))
    if pieces:
        yield table
    if whole:
        often = Counter(relation.left_origin.parameter or relation.left[0] for relation in verdict.input_relation)
        where = "every rank" if all(often[name] >= verdict.world_size for name in whole) else "the ranks that have them"
        yield Text(f"{'and ' if pieces else ''}{counted(len(whole), 'tensor')} whole on {where}", style=QUIET)


def _declarations(verdict: Refinement, verbose: bool) -> Iterator[RenderableType]:
    """The line of the job with which the failing outputs hold, where every one has such words."""
    failing = [output for output in verdict.outputs if not output.holds]
    if failing and all(output.declare for output in failing):
        told = ", ".join(f'"{output.name}": "{output.declare}"' for output in failing)
        yield Text("someone else reduces or gathers it later: say so in the job, and that much is checked", style=QUIET)
        yield Text(f"expected = {{{told}}}")


SECTIONS: tuple[tuple[str, Callable[[Refinement, bool], Iterator[RenderableType]]], ...] = (
    ("where the ranks lose it", _loss),
    ("what would mend it", _edits),
    ("outputs", _outputs),
    ("if that is meant", _declarations),
    ("sizes", _sizes),
    ("collectives", _collectives),
    ("relations", _relations),
    ("inputs and weights (a rank's = layout of the sequential)", _sources),
    ("conditions used", terminal.conditions),
    ("notes", terminal.notes),
)
