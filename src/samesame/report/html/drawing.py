"""Drawing: the two programs side by side as SVG, the left's modules and operators beside the right's.

The map has a box for each band and side, what reads what as arcs on the outer sides, and one line between the sides for
each rung. A band has its operators, and one line for each relation. Rows follow the order of execution, and what is
related lies on one row where both orders allow it. Every line is a link to what is said of the relation, so that a
keyboard reaches it and a page without scripts works.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from samesame.evidence import Rung
from samesame.report.html.folding import ELSEWHERE, Band, Operator, Tie
from samesame.report.words import counted

WIDTH, MARGIN, BOX = 720, 44, 270                # of the drawing, of the arcs beside it, of a box
RIGHT = WIDTH - MARGIN - BOX                     # where the boxes of the right begin
ROW, HEIGHT = 34, 26                             # of a row, and of the box in it
BELOW = 16                                       # room below layers that are shown as one, for how many they are
LETTER = 7.2                                     # width of a letter of a label
NO_RELATION = "no relation of its own"          # it may be part of what a later relation is about
MOST = 400                                       # operators of a band on one side that are drawn
ANSWERS = {
    Rung.PROVED: "all", Rung.PROVED_ALIKE: "alike", Rung.PROVED_HERE: "here", Rung.ROUNDED: "rounded",
    Rung.TESTED: "tested", Rung.UNDECIDED: "undecided", Rung.REFUTED: "refuted",
}


def drawing(height: float, label: str, parts: Iterable[Markup], width: int = WIDTH) -> Markup:
    """An SVG with what is in it, in a box that can be scrolled where the page is narrow."""
    return Markup(
        '<div class="drawing"><svg viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg></div>'
    ).format(width, round(height), label, Markup("").join(parts))


# -------------------------------------------------------------------------------------------------------------- the map


def overview(bands: Sequence[Band]) -> Markup:
    """Both programs as boxes, one row for each band."""
    shown = [band for band in bands if not band.is_given]
    runs = repeats(shown)
    tops = [8 + row * ROW + BELOW * sum(end <= row for _, end, _, _ in runs) for row in range(len(shown) + 1)]
    parts = [*_frames(runs, tops), *_flow(shown, tops)]
    for band, y in zip(shown, tops, strict=False):
        opening = '<a class="row{}" href="#{}" data-search="{}" aria-label="{}"><title>{}</title>'
        apart = " apart" if band.apart else ""
        parts.append(Markup(opening).format(apart, band.id, sought_in_band(band), spoken(band), spoken(band)))
        parts += [_box(MARGIN, y, title(band)), *_lines(band, y)]
        if band.right:
            parts.append(_box(RIGHT, y, right_title(band)))
        parts.append(Markup("</a>"))
    return drawing(8 + tops[-1], "Map of both programs, the left beside the right", parts)


def title(band: Band) -> str:
    return ", ".join(band.places)


def right_title(band: Band) -> str:
    return ", ".join(dict.fromkeys(operator.place for operator in band.right))


def spoken(band: Band) -> str:
    """What a band is, in words."""
    sides = f"{title(band)} and {right_title(band)}" if band.right else title(band)
    told = ", ".join(f"{number} {rung}" for rung, number in band.rungs.items())
    return f"{sides}: {told or NO_RELATION}{f'; {band.apart}' if band.apart else ''}"


def _lines(band: Band, y: float) -> Iterator[Markup]:
    """A line for each rung, and in it, above all lines, how many relations stand on it."""
    aside = [number - (len(band.rungs) - 1) / 2 for number in range(len(band.rungs))]
    heights = [y + HEIGHT / 2 + off * 9 for off in aside]
    for rung, at in zip(band.rungs, heights, strict=True):
        yield _path(f"M{MARGIN + BOX} {at}H{RIGHT}", f"line {ANSWERS[rung]}")
    for ties, off, at in zip(band.rungs.values(), aside, heights, strict=True):
        yield Markup('<text class="count" x="{}" y="{}">{}</text>').format(WIDTH / 2 + off * 36, at + 3.5, ties)


def _frames(runs: Sequence[tuple[int, int, str, int]], tops: Sequence[float]) -> Iterator[Markup]:
    """A frame round the rows of layers that are shown as one, with how many they are."""
    for start, end, name, times in runs:
        y, height = tops[start] - 4, (end - start) * ROW
        yield Markup('<rect class="frame" x="{}" y="{}" width="{}" height="{}" rx="6"><title>{}</title></rect>').format(
            MARGIN - 8, y, WIDTH - 2 * MARGIN + 16, height, name)
        yield Markup('<text class="times" x="{}" y="{}">× {}</text>').format(WIDTH / 2, y + height + 11, times)


def repeats(bands: Sequence[Band]) -> list[tuple[int, int, str, int]]:
    """Runs of bands of the same repeated layers: first and last row, the layers' name, and how many they are."""
    found: list[tuple[int, int, str, int]] = []
    for row, band in enumerate(bands):
        name = _layers(band)
        if name and found and found[-1][1] == row and found[-1][2] == name:
            found[-1] = found[-1][0], row + 1, name, max(found[-1][3], band.times)
        elif name:
            found.append((row, row + 1, name, band.times))
    return found


def _layers(band: Band) -> str:
    """The path of a band up to its range of numbers; empty where it has none."""
    parts = band.places[0].split(".")
    last = next((number for number, part in enumerate(parts) if "…" in part or "," in part), None)
    return "" if last is None else ".".join(parts[: last + 1])


def _flow(bands: Sequence[Band], tops: Sequence[float]) -> Iterator[Markup]:
    """What reads what, on each side."""
    for side in "left", "right":
        of_node = {o.nodes[0].name: row for row, band in enumerate(bands) for o in getattr(band, side)}
        edges = {
            (of_node[name], row)
            for row, band in enumerate(bands) for o in getattr(band, side) for name in o.nodes[0].inputs
            if name in of_node
        }
        yield from (_arc(side, tops[a], tops[b], b - a) for a, b in sorted(edges) if a < b)


def _arc(side: str, above: float, below: float, rows: float) -> Markup:
    """From one box to one that reads it: straight to the next row, on the outer side to others."""
    start, end = above + HEIGHT, below
    x, out = (MARGIN, -1) if side == "left" else (WIDTH - MARGIN, 1)
    if rows <= 1:
        return _path(f"M{x - out * BOX / 2} {start}V{end}", "flow")
    bulge = x + out * min(MARGIN - 6, 8 + 3 * rows)
    start, end = above + HEIGHT * 0.7, below + HEIGHT * 0.3
    return _path(f"M{x} {start}C{bulge} {start} {bulge} {end} {x} {end}", "flow")


def _path(d: str, name: str) -> Markup:
    return Markup('<path class="{}" d="{}"/>').format(name, d)


def _box(x: float, y: float, label: str, note: str = "", kind: str = "") -> Markup:
    room = int((BOX - 16) / LETTER) - (len(note) + 1 if note else 0)
    aside = Markup('<text class="note" x="{}" y="{}">{}</text>').format(x + BOX - 8, y + 17, note) if note else ""
    return Markup(
        '<rect class="box {}" x="{}" y="{}" width="{}" height="{}" rx="4"/><text x="{}" y="{}">{}</text>{}'
    ).format(kind, x, y, BOX, HEIGHT, x + 8, y + 17, shortened(label, room), aside)


def shortened(text: str, room: int) -> str:
    """The text, or its beginning and its end where there is no room for all of it."""
    if len(text) <= room:
        return text
    end = max(1, (room - 1) * 2 // 3)
    return f"{text[: max(1, room - 1 - end)]}…{text[-end:]}"


# --------------------------------------------------------------------------------------------------------------- a band


@dataclass(slots=True)
class _Item:
    """A row of one side: an operator, or the name of the module that those below it belong to."""

    place: str
    operator: Operator | None = None
    row: int = 0


def band_drawing(band: Band) -> Markup:
    """The operators of a band and its relations."""
    left, right = _items(band.left), _items(band.right)
    of_left, of_right = (
        {item.operator: number for number, item in enumerate(items) if item.operator} for items in (left, right)
    )
    pairs = [(of_left[o], of_right[tie.right]) for tie in band.ties for o in tie.lefts
             if o in of_left and tie.right in of_right]
    rows = _align(left, right, pairs)
    parts = [*_reads("left", left), *_reads("right", right)]
    for items, x in (left, MARGIN), (right, RIGHT):
        parts += [_item(item, x) for item in items]
    row_of = {id(item.operator): item.row for item in (*left, *right) if item.operator}
    parts += [_tie(tie, row_of, aside) for tie, aside in _beside(band.ties)]
    return drawing(12 + rows * ROW, f"Operators of {title(band)}", parts)


def _items(operators: Sequence[Operator]) -> list[_Item]:
    found: list[_Item] = []
    for operator in operators[:MOST]:
        if not found or found[-1].place != operator.place:
            found.append(_Item(operator.place))
        found.append(_Item(operator.place, operator))
    return found


def _align(left: list[_Item], right: list[_Item], pairs: Iterable[tuple[int, int]]) -> int:
    """Give each item a row, so that as many related ones as both orders allow lie side by side; the number of rows."""
    at = [0, 0]
    row = [0, 0]
    for ends in [*_increasing(pairs), (len(left), len(right))]:
        for side, items in enumerate((left, right)):
            while at[side] < ends[side]:
                items[at[side]].row = row[side]
                at[side] += 1
                row[side] += 1
        if ends[0] < len(left):
            row = [max(row)] * 2
            left[ends[0]].row = right[ends[1]].row = row[0]
            at, row = [ends[0] + 1, ends[1] + 1], [row[0] + 1] * 2
    return max(row)


def _increasing(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs of which both numbers increase."""
    tails: list[int] = []
    chains: list[list[tuple[int, int]]] = []
    for left, right in sorted(set(pairs), key=lambda pair: (pair[1], -pair[0])):
        place = bisect_left(tails, left)
        before = chains[place - 1] if place else []
        if before and before[-1][1] == right:
            continue
        tails[place:place + 1] = [left]
        chains[place:place + 1] = [[*before, (left, right)]]
    return chains[-1] if chains else []


def _reads(side: str, items: Sequence[_Item]) -> Iterator[Markup]:
    of_node = {node.name: item for item in items if item.operator for node in item.operator.nodes[:1]}
    for item in items:
        for name in dict.fromkeys(item.operator.nodes[0].inputs if item.operator else ()):
            above = of_node.get(name)
            if above is not None and above.row < item.row:
                yield _arc(side, 6 + above.row * ROW, 6 + item.row * ROW, item.row - above.row)


def _item(item: _Item, x: float) -> Markup:
    y = 6 + item.row * ROW
    if item.operator is None:
        return Markup('<text class="place" x="{}" y="{}">{}</text>').format(x, y + 20, shortened(item.place, 37))
    operator, line = item.operator, item.operator.nodes[0].origin.line
    note = f"{f'line {line}' if line else ''}{f' ×{operator.times}' if operator.times > 1 else ''}".strip()
    return Markup('<g class="operator" data-search="{}"><title>{}</title>{}</g>').format(
        sought(operator), told(operator), _box(x, y, label(operator), note))


def label(operator: Operator) -> str:
    return operator.name.removeprefix("aten.").removesuffix(".default")


def told(operator: Operator) -> str:
    """What an operator is, in full: its type and its first place."""
    first = operator.nodes[0]
    return f"{operator.name} ({first.name}): {first.type}, {first.origin}"


def sought(operator: Operator) -> str:
    """What a search finds an operator by."""
    first = operator.nodes[0].origin
    return f"{operator.name} {operator.place} {first.file}:{first.line} {first.module}".lower()[:400]


def sought_in_band(band: Band) -> str:
    return " ".join(dict.fromkeys(sought(operator) for operator in (*band.left, *band.right)))[:4000]


def named(tie: Tie) -> str:
    """A relation in words, for those who do not see its line."""
    left = ", ".join(map(label, tie.lefts)) or "nothing"
    right = label(tie.right) if tie.right else "nothing"
    if tie.apart:
        return f"{tie.apart}, {left} and {right}"
    times = f", {counted(len(tie.members), 'time')}" if len(tie.members) > 1 else ""
    place = tie.right.place if tie.right and tie.right.place != ELSEWHERE else ""
    return f"{left} = {right}{f' of {place}' if place else ''}: {tie.rung}{times}"


def _beside(ties: Sequence[Tie]) -> Iterator[tuple[Tie, float]]:
    """Ties, those that part last, and how far from the middle each begins and ends: several may have the same ends."""
    same: dict[tuple[int, ...], list[Tie]] = {}
    for tie in sorted(ties, key=lambda tie: -tie.rung):
        same.setdefault((*map(id, tie.lefts), id(tie.right)), []).append(tie)
    for group in same.values():
        yield from ((tie, (number - (len(group) - 1) / 2) * 9) for number, tie in enumerate(group))


def _tie(tie: Tie, row_of: dict[int, int], aside: float) -> Markup:
    ends = [row_of[id(o)] for o in tie.lefts if id(o) in row_of]
    other = row_of.get(id(tie.right)) if tie.right else None
    if other is None or not ends:
        at = other if other is not None else ends[0] if ends else 0
        middle = 6 + at * ROW + HEIGHT / 2 + aside
        x = RIGHT if other is not None else MARGIN + BOX
        d = f"M{x} {middle}H{WIDTH / 2}"
    else:
        middle = 6 + HEIGHT / 2 + aside
        d = "".join(_curve(middle + end * ROW, middle + other * ROW) for end in ends)
    return Markup(
        '<a class="tie {0}" href="#{1}" data-tie="{1}" aria-label="{2}"><title>{2}</title>'
        '<path class="hit" d="{3}"/><path class="line {4}" d="{3}"/></a>'
    ).format("apart" if tie.apart else "", tie.id, named(tie), d, ANSWERS[tie.rung])


def _curve(start: float, end: float) -> str:
    a, b, middle = MARGIN + BOX, RIGHT, WIDTH / 2
    return f"M{a} {start}H{b}" if start == end else f"M{a} {start}C{middle} {start} {middle} {end} {b} {end}"
