"""The verdict of `check` as a page: what the terminal says, and both programs drawn side by side.

The sections, their order and their sentences are the terminal's. In place of the list of relations stands the drawing:
a map, a band for each module, and each relation with what was decided: both formulas, where they come from, what was
assumed. Where the programs part comes first and is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from samesame.evidence import Claim, Drawn, Picture, Relation, Rung, Stands, Verdict
from samesame.formula.mathml import mathml_tensor
from samesame.graph import Origin
from samesame.report import terminal
from samesame.report.html import plots
from samesame.report.html.drawing import (
    ANSWERS,
    MOST,
    NO_RELATION,
    band_drawing,
    named,
    overview,
    right_title,
    sought,
    spoken,
    title,
)
from samesame.report.html.folding import Band, Folded, Tie, fold
from samesame.report.html.page import page, write_page
from samesame.report.html.proof import Links, steps_of
from samesame.report.html.wording import inline, lines_around, paragraphs
from samesame.report.words import code_in_words, place_in_words

LISTED = 64                 # relations of repeated layers that are listed
MOST_TIES = 1200            # relations that are told in full
AS_THEY_ARE = ("inputs and parameters", "sizes")    # sections that are long in full


def check_html(verdict: Verdict) -> str:
    """The whole page."""
    pair = pair_of(verdict)
    title = f"{verdict.verdict}: {verdict.left} and {verdict.right}"
    return page("check.html", title=title, pair=pair, footer=pair["footer"])


def pair_of(verdict: Verdict, prefix: str = "") -> dict[str, Any]:
    """What `pair.html` shows of two programs; ids begin with the prefix."""
    picture = verdict.picture
    folded = None if picture is None else fold(verdict, picture, prefix)
    return {
        "prefix": prefix,
        "code": verdict.exit_code,
        "headline": inline(terminal.headline(verdict)),
        "programs": [(side, name) for side, name in (("left", verdict.left), ("right", verdict.right)) if name != side],
        "before": list(_sections(verdict, BEFORE, prefix)),
        "after": list(_sections(verdict, AFTER, prefix)),
        "graph": None if folded is None or picture is None else _graph(verdict, picture, folded),
        "plots": [] if picture is None else list(filter(None, _plots(verdict, picture))),
        "footer": inline(terminal.footer(verdict)),
    }


def write_check(verdict: Verdict, path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(check_html(verdict), path)


def _sections(verdict: Verdict, wanted: list[str], prefix: str = "") -> Iterator[dict[str, Any]]:
    """Sections of the terminal's report that have something to say."""
    for name, section in terminal.SECTIONS:
        rows = list(section(verdict, not name.startswith(AS_THEY_ARE))) if name in wanted else []
        if rows:
            yield {"title": name, "content": paragraphs(rows), "id": prefix + "-".join(name.split()[:3])}


_PLACE = [name for name, _ in terminal.SECTIONS].index("relations")
BEFORE = [name for name, _ in terminal.SECTIONS[:_PLACE]]
AFTER = [name for name, _ in terminal.SECTIONS[_PLACE + 1:]]


def _plots(verdict: Verdict, picture: Picture) -> Iterator[Markup]:
    yield plots.rounding(verdict, picture)
    yield plots.differences(picture)
    yield plots.time(verdict)


# ------------------------------------------------------------------------------------------------------------ the graph


def _graph(verdict: Verdict, picture: Picture, folded: Folded) -> dict[str, Any]:
    left, right = ({node.name: node for node in drawn} for drawn in (picture.left, picture.right))
    rungs = sorted({tie.rung for tie in folded.ties}, reverse=True)
    told = sorted(folded.ties, key=lambda tie: not tie.apart)[:MOST_TIES]
    links = {relation.right: tie.id for tie in told for relation in tie.members}
    return {
        "overview": overview(folded.bands),
        "bands": [_band(band) for band in folded.bands],
        "ties": [_tie(verdict, picture, tie, left, right, links) for tie in told],
        "more": len(folded.ties) - len(told),
        "legend": [{"kind": ANSWERS[rung], "words": str(rung)} for rung in rungs],
    }


def _band(band: Band) -> dict[str, Any]:
    hidden = sum(max(0, len(side) - MOST) for side in (band.left, band.right))
    return {
        "id": band.id,
        "left": title(band),
        "right": right_title(band) or NO_RELATION,
        "times": band.times,
        "apart": band.apart,
        "given": band.is_given,
        "words": spoken(band),
        "rungs": [{"kind": ANSWERS[rung], "words": f"{n} {rung}"} for rung, n in band.rungs.items()],
        "drawing": band_drawing(band),
        "search": " ".join(sought(operator) for operator in (*band.left, *band.right))[:20_000],
        "hidden": hidden,
    }


def _tie(
    verdict: Verdict, picture: Picture, tie: Tie, left: dict[str, Drawn], right: dict[str, Drawn], links: Links
) -> dict[str, Any]:
    if tie.apart:
        return _parting(verdict, tie)
    told = _telling(tie, picture)
    key, stands = picture.decided.get(told.right, ("", ()))
    claim = picture.claims.get(key)
    operators = (*tie.lefts, *([tie.right] if tie.right else []))
    return {
        "id": tie.id,
        "kind": ANSWERS[tie.rung],
        "rung": str(tie.rung),
        "apart": False,
        "words": named(tie),
        "equation": f"{told.right_origin.parameter or told.right} = {told.layout}",
        "times": len(tie.members),
        "content": paragraphs(terminal.in_full(told)),
        "formulas": _formulas(claim, stands, left),
        "steps": steps_of(told, picture, links),
        "variables": [_variable(stand, left, right) for stand in stands],
        "block": "" if claim is None else claim.block,
        "sources": _sources([left[name].origin for name in told.left if name in left], [right[told.right].origin]),
        "members": [f"{m.right} = {m.layout}" for m in tie.members[:LISTED]] if len(tie.members) > 1 else [],
        "hidden": max(0, len(tie.members) - LISTED),
        "search": " ".join(map(sought, operators))[:2000],
    }


def _telling(tie: Tie, picture: Picture) -> Relation:
    """The relation that tells most of those of a tie: one that took a proof of its own, else one by a rule."""
    def rank(relation: Relation) -> tuple[bool, bool]:
        return relation.right not in picture.decided, relation.evidence.method == "rule"

    return min(tie.members, key=rank)


def _parting(verdict: Verdict, tie: Tie) -> dict[str, Any]:
    """Where the programs part: the terminal's words on the place, on the outputs, and on what would mend it."""
    names = ("where they part", "effect on the outputs, on the inputs given", "what would mend it")
    content = Markup("").join(
        Markup("<h4>{}</h4>{}").format(section["title"], section["content"])
        for section in _sections(verdict, list(names))
    )
    place = verdict.divergence
    sides = [] if place is None else [[site.origin] if site else [] for site in (place.left, place.right)]
    operators = (*tie.lefts, *([tie.right] if tie.right else []))
    return {
        "id": tie.id, "kind": ANSWERS[Rung.REFUTED], "rung": "refuted", "apart": True,
        "words": named(tie), "equation": named(tie), "times": 1, "content": content, "formulas": [], "steps": [],
        "variables": [], "block": "", "sources": _sources(*sides) if sides else [], "members": [], "hidden": 0,
        "search": " ".join(map(sought, operators))[:2000],
    }


def _formulas(claim: Claim | None, stands: tuple[Stands, ...], left: dict[str, Drawn]) -> list[tuple[str, Markup]]:
    """Both sides of a claim as MathML, which escapes its names itself."""
    if claim is None or claim.left is None or claim.right is None:
        return []
    names = {stand.variable: _short(stand, left) for stand in stands}
    once = {name for name in names.values() if list(names.values()).count(name) == 1}
    known = {variable: name for variable, name in names.items() if name in once}
    return [(side, Markup(mathml_tensor("out", tensor, known)))
            for side, tensor in (("left", claim.left), ("right", claim.right))]


def _short(stand: Stands, left: dict[str, Drawn]) -> str:
    """A weight by the end of its name, an input by its own, anything else by the variable."""
    node = left.get(stand.left)
    if node is None or node.operator not in ("parameter", "input"):
        return stand.variable
    return ".".join((node.origin.parameter or node.name).split(".")[-2:])


def _variable(stand: Stands, left: dict[str, Drawn], right: dict[str, Drawn]) -> dict[str, str]:
    mine, yours = left.get(stand.left), right.get(stand.right)
    return {
        "name": _short(stand, left),
        "left": "" if mine is None else _said(mine),
        "right": "" if yours is None else _said(yours),
        "type": (mine or yours).type if mine or yours else "",  # type: ignore[union-attr]
    }


def _said(node: Drawn) -> str:
    return node.origin.parameter or " ".join(filter(None, (node.name, f"({place_in_words(node.origin)})"
                                                           if node.origin.file else "")))


def _sources(left: list[Origin], right: list[Origin]) -> list[dict[str, Any]]:
    """The lines of both sides, each with those around it where the file is there."""
    found = []
    for side, origins in ("left", left), ("right", right):
        for origin in list(dict.fromkeys(origins))[:4]:
            if origin.file or origin.code:
                found.append({"side": side, "place": place_in_words(origin),
                              "module": origin.parameter or origin.module,
                              "lines": lines_around(origin.file, origin.line, code_in_words(origin))})
    return found


__all__ = ["check_html", "write_check"]
