"""Plots that people would rather look at than read, as SVG: how rounding grows, how far outputs are apart, and time.

Each comes with its numbers as a table, for those who do not see it. Axes of errors are powers of ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from samesame.evidence import Picture, Verdict
from samesame.report.html.drawing import drawing, shortened
from samesame.report.terminal import WITHIN
from samesame.report.words import number_in_words, seconds_in_words

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 460, 190, 52, 12, 32
POINTS = 240                # of a curve; of more the largest in each step
FLOOR = -18                 # power of ten that stands for an error of 0
SHOWN = 4                   # outputs whose differences are plotted
NARROW, BAR, ROOM, LABEL = 380, 40, 205, 50     # bars: width in all, height of one, length of the longest, letters


def rounding(verdict: Verdict, picture: Picture) -> Markup:
    """The error of each side against float64 along the program, where both sides hold the same tensor."""
    points = [
        (relation.left_origin.module or relation.right_origin.module or relation.right, picture.errors[0][left],
         picture.errors[1][relation.right])
        for relation in verdict.relations for left in relation.left[:1]
        if left in picture.errors[0] and relation.right in picture.errors[1]
    ]
    if len(points) < 2:
        return Markup("")
    points = _thinned(points)
    powers = [[_power(a) for _, a, _ in points], [_power(b) for _, _, b in points]]
    low, high = min(map(min, powers)), max(map(max, powers)) + 1
    parts = [*_scale(low, high)]
    for side, name, ys in zip((0, 1), ("left", "right"), powers, strict=True):
        path = " ".join(f"{'M' if not k else 'L'}{_x(k, len(ys)):.1f} {_y(y, low, high):.1f}" for k, y in enumerate(ys))
        parts.append(Markup('<path class="curve {}" d="{}"/>').format(name, path))
        parts.append(Markup('<text class="key {}" x="{}" y="{}">{}</text>').format(
            name, WIDTH - 8, TOP + 12 + 15 * side, f"{name} {'- -' if side else '—'}"))
    for k, name in _layers([point[0] for point in points]):
        tick = '<path class="tick" d="M{0} {1}v5"/><text class="axis middle" x="{0}" y="{2}">{3}</text>'
        foot = HEIGHT - BOTTOM
        parts.append(Markup(tick).format(round(_x(k, len(points)), 1), foot, foot + 18, name))
    picture_ = drawing(HEIGHT, "Error of each side against float64, along the program", parts, WIDTH)
    rows = [(place, number_in_words(a), number_in_words(b)) for place, a, b in points]
    return _figure("error of each side against float64, tensor by tensor, relative to its largest value", picture_,
                   ("tensor of", "left", "right"), rows)


def _thinned(points: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    step = -(-len(points) // POINTS)
    groups = [points[k:k + step] for k in range(0, len(points), step)]
    return [(group[0][0], max(p[1] for p in group), max(p[2] for p in group)) for group in groups]


def _power(error: float) -> float:
    return 1.0 if math.isinf(error) else FLOOR if error <= 0 else max(FLOOR, math.log10(error))


def _layers(places: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Where the number of the layer changes; at most a dozen of these places."""
    numbers = [next((part for part in place.split(".") if part.isdigit()), "") for place in places]
    found = [(k, n) for k, n in enumerate(numbers) if n and (k == 0 or numbers[k - 1] != n)]
    step = -(-len(found) // 12)
    yield from ((k, f"layer {n}" if k == found[0][0] else n) for k, n in found[::step or 1])


def _x(k: int, number: int) -> float:
    return LEFT + 6 + (WIDTH - LEFT - 80) * k / max(1, number - 1)


def _y(power: float, low: float, high: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (high - power) / max(1e-9, high - low)


def _scale(low: float, high: float) -> Iterator[Markup]:
    first, last = math.floor(low), math.ceil(high)
    for power in range(first, last + 1, max(1, (last - first) // 5)):
        if low <= power <= high:
            y = round(_y(power, low, high), 1)
            yield Markup('<path class="grid" d="M{} {}H{}"/>').format(LEFT, y, WIDTH - 64)
            yield Markup('<text class="axis" x="{}" y="{}">{}</text>').format(
                LEFT - 6, y + 4, "0" if power <= FLOOR else f"1e{power}")


def differences(picture: Picture) -> Markup:
    """For each output: how many elements are how far apart, each side in its own precision."""
    return Markup("").join(_histogram(name, counts) for name, counts in list(picture.apart.items())[:SHOWN] if counts)


def _histogram(name: str, counts: dict[int | None, int]) -> Markup:
    powers = [power for power in counts if power is not None]
    bars: list[tuple[str, int]] = [("equal", counts.get(None, 0))]
    bars += [(f"≤ 1e{p}", counts.get(p, 0)) for p in range(min(powers), max(powers) + 1)] if powers else []
    most, total = max(n for _, n in bars) or 1, sum(n for _, n in bars)
    room = (WIDTH - LEFT - 12) / len(bars)
    parts = []
    for k, (words, n) in enumerate(bars):
        x, height = LEFT + k * room, (HEIGHT - TOP - BOTTOM - 14) * n / most
        y = HEIGHT - BOTTOM - height
        width = min(room * 0.8, 60)
        parts.append(Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
            round(x, 1), round(y, 1), round(width, 1), round(height, 1), f"{words}: {n} of {total} elements"))
        middle = round(x + width / 2, 1)
        parts.append(Markup('<text class="axis middle" x="{}" y="{}">{}</text>').format(middle, HEIGHT - 14, words))
        if n:
            share = f"{100 * n / total:.0f} %" if n / total >= 0.005 else "< 1 %"
            label = Markup('<text class="axis middle" x="{}" y="{}">{}</text>')
            parts.append(label.format(middle, round(y - 4, 1), share))
    shown = shortened(name, 80)
    picture = drawing(HEIGHT, f"How far the sides are apart in {shown}", parts, WIDTH)
    return _figure(f"{shown}: how far the sides are apart in their own precision, relative to the largest value, over "
                   "all draws", picture, ("apart", "elements"), [(words, str(n)) for words, n in bars if n])


def time(verdict: Verdict) -> Markup:
    """Seconds by stage."""
    stages = [(name, spent) for name, spent in verdict.timing.items() if name not in WITHIN and spent >= 0.0005]
    shown = [Bar(name, spent, f"{seconds_in_words(spent) if spent >= 0.05 else f'{spent:.3f}'} s")
             for name, spent in stages]
    return bars("time by stage", shown, ("stage", "seconds"), [(name, f"{s:.3f}") for name, s in stages])


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a size, its name above it and words behind it; where it has a spread, that goes on up to `until`."""

    name: str
    size: float
    words: str
    until: float = 0.0
    kind: str = ""


def bars(caption: str, shown: Sequence[Bar], head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Bars below one another, as long as they are large, and the table of their numbers; nothing where there are
    none."""
    most = max((max(bar.size, bar.until) for bar in shown), default=0.0)
    if not most:
        return Markup("")
    parts = []
    for row, bar in enumerate(shown):
        y, width, end = 4 + BAR * row, max(1.0, ROOM * bar.size / most), ROOM * max(bar.size, bar.until) / most
        parts.append(Markup('<text x="4" y="{}">{}</text><rect class="bar {}" x="4" y="{}" width="{}" height="14"/>')
                     .format(y + 11, shortened(bar.name, LABEL), bar.kind, y + 17, round(width, 1)))
        if bar.until > bar.size:
            parts.append(Markup('<path class="whisker" d="M{0} {1}H{2}M{2} {3}v8"/>').format(
                round(4 + width, 1), y + 24, round(4 + end, 1), y + 20))
        parts.append(Markup('<text class="seconds" x="{}" y="{}">{}</text>').format(
            round(12 + max(width, end), 1), y + 28, bar.words))
    picture = drawing(8 + BAR * len(shown), caption, parts, NARROW)
    return _figure(caption, picture, head, rows)


def _figure(caption: str, picture: Markup, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    titles = Markup("").join(Markup('<th scope="col">{}</th>').format(word) for word in head)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in rows
    )
    return Markup(
        '<figure class="plot"><figcaption>{}</figcaption>{}<details class="numbers"><summary>as numbers</summary>'
        '<div class="wide" tabindex="0" role="group" aria-label="table"><table><tr>{}</tr>{}</table></div></details>'
        "</figure>"
    ).format(caption, picture, titles, body)
