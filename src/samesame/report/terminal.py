"""The verdict for people, in the order in which they ask.

Is it the same? If not: where do the two part, what does it do to the outputs, and what would mend it? Only then what
the verdict stands on: the outputs, the relations between the two programs, the conditions that were used, and the
rounding error of each side, which is measured because proofs are over the reals. A section that has nothing to say is
left out. Colour only repeats what the words say. Layers that repeat are read as one (`repetition.py`) unless `verbose`
asks for every relation.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, takewhile
from typing import IO

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from samesame.evidence import SHOWN, Edit, Effect, Relation, Root, Rung, Sizes, Verdict
from samesame.graph.interface import KINDS, spoken
from samesame.report.repetition import inline, repeated
from samesame.report.setting import captured, only_with
from samesame.report.visible import visible
from samesame.report.words import (
    QUIET,
    below,
    code_in_words,
    counted,
    indented,
    listed,
    number_in_words,
    place_in_words,
    rung_in_words,
    seconds_in_words,
    site_in_words,
)

WIDEST = 120
UNSEEN = 100                                      # columns where no terminal says how many there are
COLOUR = {"same": "bold green", "different": "bold red", "undecided": "bold yellow"}
PROOFS = ("normal form", "smt")                   # methods that decide a relation by a proof of its own
WAYS = {"rule": "by rule", "congruence": "by congruence", "constant": "by constant", "test": "tested"}
_TOLD = 2                                         # differences that the headline names
WITHIN = ("total", "proofs")                      # timings that are no stage: the sum of all, and a part of proving
HONESTY = "Proofs are over the real numbers: a cast counts as the identity, and rounding is measured, not proved."


def render(verdict: Verdict, verbose: bool = False, width: int | None = None) -> RenderableType:
    """The whole report. `width` in columns, at most; by default the console's, up to 120."""
    blocks: list[RenderableType] = [headline(verdict), _programs(verdict)]
    for title, section in SECTIONS:
        rows = list(section(verdict, verbose))
        if rows:
            blocks += [Text(), Text(title, style="bold"), *map(indented, rows)]
    blocks += [Text(), footer(verdict)]
    return Constrain(Group(*blocks), min(width or WIDEST, WIDEST))


def print_report(
    verdict: Verdict, file: IO[str] | None = None, verbose: bool = False, width: int | None = None
) -> None:
    """Print the report to `file` (default: stdout), in colour where that is a terminal that has it."""
    print_rendered(lambda: render(verdict, verbose, width), file, width)


def print_rendered(rendered: Callable[[], RenderableType], file: IO[str] | None, width: int | None) -> None:
    """Print what is rendered to `file` (default: stdout); `width` in columns, where the terminal's is not to be."""
    console = Console(file=file, width=width, highlight=False)
    if width is None and not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNSEEN
    file = getattr(console.file, "under", console.file)     # what is written there is visible, and has its colours
    file.write(_written(console, rendered()))


def plain_text(verdict: Verdict, verbose: bool = False, width: int = 100) -> str:
    """The report as text without colour."""
    return plain(render(verdict, verbose, width), width)


def plain(rendered: RenderableType, width: int) -> str:
    """What is rendered as text without colour."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False, _environ={})
    return _written(console, rendered)


def _written(console: Console, rendered: RenderableType) -> str:
    """What the console would print, visibly, and without blanks at line ends. Printing itself, rich exits when a reader
    leaves."""
    shown = [Segment(visible(text), style, control) for text, style, control in console.render(rendered)]
    with console.capture() as captured:
        console.print(Segments(shown), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


# --------------------------------------------------------------------------------------------------------- the headline


def headline(verdict: Verdict) -> Text:
    """The verdict in one line: what was found, and what it stands on."""
    return Text.assemble((verdict.verdict, COLOUR[verdict.verdict]), "   ", HEADLINES[verdict.verdict](verdict))


def _same(verdict: Verdict) -> str:
    at_least = "at least " if any(root.evidence.rung > verdict.evidence for root in verdict.roots) else ""
    calls = [verdict.scope] if verdict.scope else []
    aside = listed([kind for kind in KINDS if any(difference.kind == kind for difference in verdict.ignored)])
    besides = [*verdict.sizes.by_files, *verdict.only, *calls, *([f"{aside} aside"] if aside else [])]
    scope = ", ".join((_scope(verdict), *besides))
    return f"every output {at_least}{scope}{only_with(verdict)}{tally(verdict.relations)}"


def _scope(verdict: Verdict) -> str:
    """What was shown, and for which sizes."""
    sizes = verdict.sizes
    if verdict.proved is Rung.PROVED and sizes.places:
        return f"proved for every {sizes.spoken()}"
    if verdict.proved is Rung.PROVED_ALIKE:
        return f"proved for {_like_those_run(sizes)}"
    if verdict.proved is Rung.ROUNDED:
        return f"the {verdict.proved}, {_sizes_of_rounded(verdict.sizes)}"
    return str(verdict.proved)


def _sizes_of_rounded(sizes: Sizes) -> str:
    """The rung of what was rounded says nothing of sizes; those that were proved do."""
    if not sizes.places:
        return "at these sizes"
    return f"for {_like_those_run(sizes)}" if sizes.lost else f"for every {sizes.spoken()}"


def _like_those_run(sizes: Sizes) -> str:
    return f"sizes like those run: {', '.join([sizes.run_at(), *sizes.held()[:SHOWN]])}"


def _different(verdict: Verdict) -> str:
    if verdict.sizes.apart:
        return f"the outputs differ at {verdict.sizes.apart}; the same, {_scope(verdict).removeprefix('the same ')}"
    because = f": {verdict.because}" if verdict.because else ""
    told = [*_in_numbers(verdict), *(difference.text for difference in verdict.differences)]
    more = f", and {counted(len(told) - _TOLD, 'difference')} more" if len(told) > _TOLD else ""
    said = "; ".join(told[:_TOLD]) + more if told else "the outputs of the two sides do not correspond"
    return f"{said}{because}"


def _in_numbers(verdict: Verdict) -> Iterator[str]:
    """Which outputs differ in value."""
    compared = [root for root in verdict.roots if root.evidence.method != "shape"]
    refuted = [root for root in compared if root.evidence.rung is Rung.REFUTED]
    if not refuted:
        return
    worst = max(refuted, key=lambda root: root.max_error if math.isfinite(root.max_error) else math.inf)
    amount = _amount(worst.max_error)
    if len(compared) == 1:
        yield f"{spoken(worst.name)} differs{amount}"
    elif len(refuted) == 1:
        yield f"1 of {len(compared)} outputs differs: {worst.name}{amount}"
    else:
        yield f"{len(refuted)} of {len(compared)} outputs differ, {spoken(worst.name)} the most{amount}"


def _amount(error: float) -> str:
    if not math.isfinite(error):
        return ", by infinity on some draw"
    return f", by up to {number_in_words(error)} over all draws" if error else ""


def _names(roots: list[Root]) -> str:
    shown = ", ".join(root.name for root in roots[:4])
    return shown if len(roots) <= 4 else f"{shown}, …"


def _undecided(verdict: Verdict) -> str:
    left = [root for root in verdict.roots if root.evidence.rung is Rung.UNDECIDED]
    if not left:
        return "not every output could be compared"
    if len(verdict.roots) == 1:
        return f"{spoken(left[0].name)} is neither proved the same nor refuted"
    return f"{len(left)} of {len(verdict.roots)} outputs neither proved the same nor refuted: {_names(left)}"


HEADLINES: dict[str, Callable[[Verdict], str]] = {"same": _same, "different": _different, "undecided": _undecided}


def tally(relations: list[Relation]) -> str:
    """` (312 relations, 23 proofs, 289 by rule)`; what stayed undecided beside the outputs is not counted."""
    established = [relation for relation in relations if relation.evidence.rung >= Rung.TESTED]
    return f" ({', '.join((counted(len(established), 'relation'), *ways_of(established)))})" if established else ""


def ways_of(relations: Iterable[Relation]) -> Iterator[str]:
    """How relations were established, each way with its number."""
    found = [relation.evidence for relation in relations]
    methods = Counter(evidence.method for evidence in found if evidence.rung >= Rung.TESTED)
    if proofs := sum(methods[method] for method in PROOFS):
        yield counted(proofs, "proof")
    for method, words in WAYS.items():
        if methods[method]:
            yield f"{methods[method]} {words}"
    if weak := sum(evidence.rung < Rung.TESTED for evidence in found):
        yield f"{weak} open"


def _programs(verdict: Verdict) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for side, name in ("left", verdict.left), ("right", verdict.right):
        if name != side:
            table.add_row(Text(f"  {side}", style=QUIET), Text(name))
    return table if table.row_count else Text(end="")


# ---------------------------------------------------------------------------------- where they part, what would mend it


def _parting(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    found = verdict.divergence
    if found is None:
        return
    table = Table.grid(padding=(0, 2))
    for side, site in ("left", found.left), ("right", found.right):
        if site is None:
            table.add_row(Text(side, style=QUIET), Text("no counterpart"))
        else:
            table.add_row(Text(side, style=QUIET), site_in_words(site))
    yield table
    if found.agreeing_inputs:
        yield Text(f"Inputs that still agree: {', '.join(found.agreeing_inputs)}")


def _effect(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    if verdict.effect is not None and verdict.effect.max_error == 0:
        yield Text("none: only the other draws tell the two apart")
    elif verdict.effect is not None:
        yield Text(_effect_in_words(verdict.effect))


def _effect_in_words(effect: Effect) -> str:
    words = _difference(effect)
    if effect.max_log_prob_change is not None:
        words += f"; log-probabilities change by at most {number_in_words(effect.max_log_prob_change)}"
    if effect.argmax_changed is not None:
        total = f" of {effect.argmax_total}" if effect.argmax_total is not None else ""
        words += f"; the argmax changes in {effect.argmax_changed}{total} positions"
    return words


def _difference(measured: Effect | Root) -> str:
    if measured.max_error == 0:
        return "no difference"
    if math.isinf(measured.max_error):
        return "infinities are not in the same places"
    most, mean = number_in_words(measured.max_error), number_in_words(measured.mean_error)
    return f"difference at most {most}, on average {mean}"


def _besides(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    """What differs besides numbers, each with the option that leaves it aside."""
    for difference in verdict.differences:
        aside = "" if difference.final else f"   (--ignore {difference.kind})"
        yield Text.assemble(difference.text, (aside, QUIET))


def _ignored(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    for difference in verdict.ignored:
        yield Text.assemble(difference.text, (f"   ({difference.kind})", QUIET))


def _edits(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    differ = any(_in_numbers(verdict)) and not verdict.sizes.apart
    if verdict.verdict == "different" and not verdict.diagnosis and differ:
        yield Text("no change of a single operator was found that makes them agree")
    for number, edit in enumerate(verdict.diagnosis):
        yield from _edit(edit, "They agree again if" if number == 0 else "or if")


def _edit(edit: Edit, opening: str) -> Iterator[RenderableType]:
    side, place = edit.site.side, place_in_words(edit.site.origin)
    what = edit.description if edit.description.startswith(side) else f"{side} {edit.description}"
    yield Text.assemble(f"{opening} ", (what, "bold"), f"  ({place})" if place else "")
    for site in edit.site, edit.counterpart:
        if site is not None and (code := code_in_words(site.origin)):
            yield below(f"{site.side:<5}  {code}")
    yield below(VERIFIED.get(edit.verified, edit.verified))
    if edit.effect is not None:
        yield below(f"without it: {_effect_in_words(edit.effect)}")


VERIFIED = {
    "proved": "verified: with this edit every output is proved the same",
    "values": "verified on values only: with this edit the outputs agree on every draw",
}


# ------------------------------------------------------------------------------------------- what the verdict stands on


def _outputs(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    if not verdict.roots:
        return
    table = Table.grid(padding=(0, 3))
    for root in verdict.roots:
        found = root.evidence
        words = rung_in_words(found)
        if found.rung <= Rung.UNDECIDED and found.method != "shape":
            words.append(f": {_difference(root)}, over all draws" if root.max_error else ": no difference on any draw")
        if found.detail and (verbose or found.rung <= Rung.TESTED):
            words.append(f"\n{found.detail}", style=QUIET)
        table.add_row(Text(root.name), words)
    yield table


def _sizes(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    """For which sizes it is proved, what bounds them, and how the sizes were told from mere numbers."""
    sizes = verdict.sizes
    if sizes.varying:
        yield Text(f"{'varied' if sizes.lost else 'for every'} {', '.join(sizes.varying)}")
        for condition in sizes.region.conditions:
            yield Text(f"where {condition}")
        for bound in sizes.bounds:
            yield Text(f"as {bound}", style=QUIET)
        for case in sizes.cases:
            yield Text(f"one case is {sizes.bounded(case.region)}")
            yield from (below(f"as {bound}") for bound in case.bounds)
        shown = sizes.ran if verbose else sizes.ran[:1] + sizes.ran[-2:]
        yield Text(f"read off runs at {'; '.join(shown)}", style=QUIET)
        for place in sizes.lost if verbose else sizes.lost[:SHOWN]:
            yield Text(f"not followed: {place}")
        if sizes.lost:
            yield Text("what the programs do at sizes that were not run is not covered", style=QUIET)
    if verdict.verdict == "same":
        for reason in sizes.fixed:
            yield Text(f"not varied: {reason}", style=QUIET)


def _left_open(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    """Relations that nothing refuted and nothing established: what a person would look at next."""
    if verdict.verdict == "undecided":
        for relation in verdict.relations:
            if relation.evidence.rung is Rung.UNDECIDED:
                yield from in_full(relation)


def _relations(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    yield from relations_by_place([relation for relation in verdict.relations if not _given(relation)], verbose)


def relations_by_place(inner: list[Relation], verbose: bool) -> Iterator[RenderableType]:
    """What was proved, a line for each module or function of the left; every relation if `verbose`."""
    if not inner:
        return
    if verbose:
        for relation in inner:
            yield from in_full(relation)
        return
    wheres = [_where(relation) for relation in inner]
    names = inline(wheres)
    groups: dict[str, list[Relation]] = {}
    for relation, where in zip(inner, wheres, strict=True):
        groups.setdefault(names[where], []).append(relation)
    table = Table.grid(padding=(0, 3))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for where, members in groups.items():
        lowest = min((relation.evidence for relation in members), key=lambda found: found.rung)
        ways = Text(", ".join(ways_of(members)), style=QUIET)
        table.add_row(Text(where), Text(str(len(members))), rung_in_words(lowest), ways)
    yield table


def _given(relation: Relation) -> bool:
    """Inputs and parameters: their relation is given or inferred from the values, not proved."""
    return relation.evidence.method == "input"


def _where(relation: Relation) -> str:
    """The module, else the function, that a relation is reported under: the left's, since left is the reference."""
    left, right = relation.left_origin, relation.right_origin
    return left.module or right.module or left.function or right.function or "elsewhere"


def in_full(relation: Relation) -> Iterator[RenderableType]:
    """One relation with its evidence, both places, and what was assumed."""
    found = relation.evidence
    yield Text(f"{relation.right} = {relation.layout}")
    words = [f"{found.rung}, {found.method} {found.proof}".rstrip()]
    for side, origin in ("left", relation.left_origin), ("right", relation.right_origin):
        if place := place_in_words(origin):
            words.append(f"{side} {place}")
    yield below("; ".join(words))
    for line in (*found.detail.splitlines(), *map(str, found.conditions)):
        yield below(line)


def _parameters(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    yield from given_relations([relation for relation in verdict.relations if _given(relation)], verbose)


def given_relations(given: list[Relation], verbose: bool) -> Iterator[RenderableType]:
    """`right = layout(left…)` for what the programs are given; a plain change of name is only counted."""
    if verbose:
        for relation in given:
            yield from in_full(relation)
        return
    shown = [relation for relation in given if not _renames(relation)]
    for group in repeated((_right_name(relation), *_layout(relation)) for relation in shown):
        right, layout, folder = group.texts
        yield Text(f"{right} = {layout}")
        if aside := "   ".join(part for part in (f"of {folder}" if folder else "", group.range) if part):
            yield below(aside)
    if renamed := len(given) - len(shown):
        yield Text(f"{'and ' if shown else ''}{counted(renamed, 'tensor')} one to one", style=QUIET)


def _layout(relation: Relation) -> tuple[str, str]:
    """The layout, and the path that its tensors share, taken out of it: `concat(q.weight, k.weight; 0)`, `layers.0`."""
    paths = [name.split(".")[:-1] for name in relation.left]
    shared = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))]
    folder = ".".join(shared)
    return (relation.layout.replace(f"{folder}.", ""), folder) if folder else (relation.layout, "")


def _renames(relation: Relation) -> bool:
    return len(relation.left) == 1 and relation.layout == relation.left[0] and not relation.evidence.conditions


def _right_name(relation: Relation) -> str:
    return relation.right_origin.parameter or relation.right


def conditions(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    found = [relation.evidence for relation in verdict.relations] + [root.evidence for root in verdict.roots]
    parts = chain((evidence.conditions for evidence in found), (case.conditions for case in verdict.sizes.cases))
    used = Counter(map(str, chain.from_iterable(parts)))
    if set(used.values()) <= {1}:
        yield from map(Text, used)
        return
    table = Table.grid(padding=(0, 3))
    for condition, times in used.items():
        table.add_row(Text(condition), Text(f"{times} times" if times > 1 else "", style=QUIET))
    yield table


def _captured(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    yield from map(Text, captured(verdict))


def _unpaired(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    """A port starts with the same weights on both sides, so weights on one only are the first thing to look at."""
    shown = verdict.unpaired if verbose else verdict.unpaired[:8]
    yield from map(Text, shown)
    if rest := len(verdict.unpaired) - len(shown):
        yield Text(f"and {rest} more (--verbose lists all)", style=QUIET)
    if verdict.advice:
        yield Text(verdict.advice)


def _rounding(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    if not verdict.numeric:
        return
    table = Table.grid(padding=(0, 3))
    table.add_row(*(Text(title, style=QUIET) for title in ("output", "left", "right", "")))
    for row in verdict.numeric:
        basis = Text(f"{row.dtype}, worst of {counted(row.draws, 'draw')}", style=QUIET)
        errors = (Text(number_in_words(error)) for error in (row.left_error, row.right_error))
        table.add_row(Text(row.root), *errors, basis)
    yield table


def notes(verdict: Verdict, verbose: bool) -> Iterator[RenderableType]:
    notes = verdict.notes if any("over the real" in note for note in verdict.notes) else [HONESTY, *verdict.notes]
    table = Table.grid(padding=(0, 1))
    for note in notes:
        table.add_row(Text("·", style=QUIET), Text(note))
    yield table


def footer(verdict: Verdict) -> Text:
    """Seconds in all and by stage, then what it takes to run this again."""
    stages, total = _stages(verdict), seconds_of(verdict)
    shown = ", ".join(f"{name} {seconds_in_words(spent)}" for name, spent in stages.items() if spent >= 0.05)
    parts = [f"{seconds_in_words(total)} s" + (f" ({shown})" if shown else "")] if verdict.timing else []
    parts += [f"seed {verdict.seed}", *(f"{name} {version}" for name, version in verdict.versions.items())]
    return Text(" · ".join(parts), style=QUIET)


def seconds_of(verdict: Verdict) -> float:
    """What the whole run took."""
    return verdict.timing.get("total", sum(_stages(verdict).values()))


def _stages(verdict: Verdict) -> dict[str, float]:
    return {name: spent for name, spent in verdict.timing.items() if name not in WITHIN}


SECTIONS: tuple[tuple[str, Callable[[Verdict, bool], Iterator[RenderableType]]], ...] = (
    ("what differs besides numbers", _besides),
    ("what differs and was to be ignored", _ignored),
    ("where they part", _parting),
    ("effect on the outputs, on the inputs given", _effect),
    ("without a counterpart of its own among the other side's weights", _unpaired),
    ("what would mend it", _edits),
    ("outputs", _outputs),
    ("sizes", _sizes),
    ("left open", _left_open),
    ("relations", _relations),
    ("inputs and parameters (right = layout over left)", _parameters),
    ("conditions used", conditions),
    ("captured", _captured),
    ("rounding: error of each side against float64, relative to its largest value", _rounding),
    ("notes", notes),
)
