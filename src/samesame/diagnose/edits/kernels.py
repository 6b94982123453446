"""Edits to the settings of a kernel that stands whole in a graph: attention's scale, cap and window, an expert's
activation.

On the other side the same settings may be spread over many operators: a factor here, a mask there. So beside the
numbers that the other side says, those are tried that people take for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isclose

from samesame.diagnose.change import Change, Hints, numbers, packet, shown, with_argument
from samesame.graph import Node
from samesame.operators.definitions import EXPERT_GATES

Candidates = Iterator[tuple[int, str, object]]         # cost, what is said, the value

_SAID = 16
ATTENTION = "aten.scaled_dot_product_attention"


def scales(node: Node, now: float, hints: Hints) -> Candidates:
    """The numbers of the other side; then one more or one fewer of the same factor, none, and what heads suggest."""
    width = node.inputs[0].shape[-1]
    for cost, pool in enumerate((_said(hints), (1.0, width**-0.5, now**2, abs(now) ** 0.5))):
        for value in pool:
            yield cost, f"scales its scores by {shown(value)} instead of {shown(now)}", value


def caps(node: Node, now: float, hints: Hints) -> Candidates:
    """The numbers of the other side, and no cap."""
    instead = f" instead of {shown(now)}" if now > 0 else ""
    yield from ((0, f"caps its scores at {shown(v)}{instead}", v) for v in _said(hints) if v > 0)
    if now > 0:
        yield 1, f"does not cap its scores (at {shown(now)})", 0.0


def windows(node: Node, now: int, hints: Hints) -> Candidates:
    """One more or one less, none, the numbers of the other side, and then every other."""
    length = node.inputs[1].shape[1]
    said = [v for other in hints.others for _, _, v in numbers(other) if isinstance(v, int) and v > 1]
    pools = ((now - 1, now + 1), said, range(1, length))
    instead = f" instead of {now}" if now > 0 else ""
    for cost, pool in zip((1, 2, 3), pools, strict=True):
        for value in pool:
            if 0 < value < length:
                yield cost, f"looks back over a window of {value}{instead}", value
    if now > 0:
        yield 1, f"looks back without a window (of {now})", -1


def activations(node: Node, now: str, hints: Hints) -> Candidates:
    yield from ((1, f"applies {name} instead of {now}", name) for name in EXPERT_GATES if name != now)


def _said(hints: Hints) -> list[float]:
    """The floating-point numbers in the other side's region, from its start, each once."""
    found = dict.fromkeys(v for other in hints.others for _, _, v in numbers(other) if isinstance(v, float))
    return list(found)[:_SAID]


# By operator: which arguments are settings, by position, and what else they might be.
SETTINGS: dict[str, dict[int, Callable[..., Candidates]]] = {
    "samesame.paged_attention": {3: scales, 4: caps, 5: windows},
    "samesame.fused_experts": {8: activations},
}


def other_scale(node: Node, hints: Hints) -> Iterator[Change]:
    """Another scale of attention that stands whole, or torch's own, 1/√width: the other side may say it anywhere, as a
    factor or as what it divides by."""
    if packet(node) != ATTENTION:
        return
    default = float(node.inputs[0].shape[-1]) ** -0.5
    now = node.kwargs.get("scale")
    said = _said(hints)
    pools: list[list[float | None]] = [[None], [*said], [1 / v for v in said if v], [1.0, default**2, default**0.5]]
    tried = [default if now is None else now]
    for cost, pool in enumerate(pools):
        for value in pool:
            number = default if value is None else value
            if any(isclose(number, known, rel_tol=1e-6) for known in tried):
                continue
            tried.append(number)
            others = {k: v for k, v in node.kwargs.items() if k != "scale"}
            kwargs = others if value is None else others | {"scale": value}
            words = f"1/√{node.inputs[0].shape[-1]}, its default," if value is None else shown(number)
            yield Change(
                node, f"scaled_dot_product_attention scales its scores by {words} instead of {shown(tried[0])}", cost,
                lambda n, kwargs=kwargs: [replace(n, kwargs=kwargs)],
            )


def other_setting(node: Node, hints: Hints) -> Iterator[Change]:
    """Another setting of a kernel that stands whole: here, and wherever the line runs with the same setting, whatever
    the others are."""
    for place, candidates in SETTINGS.get(packet(node), {}).items():
        now, line = node.args[place], (node.origin.file, node.origin.line)
        alike = [n for n in hints.graph.nodes if n.operator == node.operator and n.args[place] == now]
        alike = [n for n in alike if (n.origin.file, n.origin.line) == line and n is not node]
        tried = {now}
        for cost, words, value in candidates(node, now, hints):
            if value in tried:
                continue
            tried.add(value)
            change = Change(
                node,
                f"{packet(node).removeprefix('samesame.')} {words}",
                cost,
                lambda n, place=place, value=value: [with_argument(n, place, value)],
                alone=True,
            )
            yield change
            if alike:
                where = f"{change.description}, in all {len(alike) + 1} places where it is so"
                yield replace(change, description=where, twins=tuple(alike))
