"""A formula over weights in words: `conv.weight·(bn.weight/√(bn.running_var + 1e-05))`."""

from __future__ import annotations

from typing import Any

from samesame.graph import Node
from samesame.relate.joint import BIJECTIVE, IDENTITIES
from samesame.relate.roundings import packet

_LONGEST = 160
SUM, PRODUCT, ATOM = 0, 1, 2               # how tightly a part holds together
SILENT = BIJECTIVE | IDENTITIES | frozenset(["aten.expand"])


def formula_text(node: Node) -> str:
    """The formula, cut off where it is long; what only changes the shape is not said."""
    text = _said(node, 14)[0]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _said(value: Any, deep: int) -> tuple[str, int]:
    if isinstance(value, float):
        return f"{value!r}", SUM if value < 0 else ATOM
    if not isinstance(value, Node):
        return str(value), ATOM
    if value.is_source:
        return value.origin.parameter or value.name, ATOM
    if deep == 0:
        return "…", ATOM
    name, args = packet(value), value.args
    if value.operator == "getitem":
        return (_said(args[0], deep - 1) if args[1] == 0 else (f"{_said(args[0], deep - 1)[0]}[{args[1]}]", ATOM))
    if name in ("aten.permute", "aten.t", "aten.transpose"):
        return f"{_held(args[0], deep, ATOM)}ᵀ", ATOM
    if name in SILENT:
        return _said(args[0], deep)
    match name:
        case "aten.add":
            return f"{_held(args[0], deep, SUM)} + {_times(value, deep)}{_held(args[1], deep, PRODUCT)}", SUM
        case "aten.sub":
            return f"{_held(args[0], deep, SUM)} − {_times(value, deep)}{_held(args[1], deep, PRODUCT)}", SUM
        case "aten.mul":
            second, first = args[1], args[0]
            if isinstance(second, float) and isinstance(first, Node) and second == -1.0:
                return f"−{_held(first, deep, PRODUCT)}", SUM
            if isinstance(second, Node) and packet(second) == "aten.rsqrt":
                return f"{_held(first, deep, PRODUCT)}/√{_held(second.args[0], deep, ATOM)}", PRODUCT
            if isinstance(second, Node) and packet(second) == "aten.reciprocal":
                return f"{_held(first, deep, PRODUCT)}/{_held(second.args[0], deep, ATOM)}", PRODUCT
            return f"{_held(first, deep, PRODUCT)}·{_held(second, deep, PRODUCT)}", PRODUCT
        case "aten.div":
            return f"{_held(args[0], deep, PRODUCT)}/{_held(args[1], deep, ATOM)}", PRODUCT
        case "aten.neg":
            return f"−{_held(args[0], deep, PRODUCT)}", SUM
        case "aten.rsqrt":
            return f"1/√{_held(args[0], deep, ATOM)}", PRODUCT
        case "aten.sqrt":
            return f"√{_held(args[0], deep, ATOM)}", ATOM
        case "aten.matmul" | "aten.mm" | "aten.mv":
            return f"{_held(args[0], deep, PRODUCT)} @ {_held(args[1], deep, ATOM)}", PRODUCT
    parts = (", ".join(_said(part, deep - 1)[0] for part in arg) if isinstance(arg, tuple) else _said(arg, deep - 1)[0]
             for arg in args)
    return f"{name.partition('.')[2].strip('_')}({', '.join(parts)})", ATOM


def _held(value: Any, deep: int, tightly: int) -> str:
    text, tight = _said(value, deep - 1 if isinstance(value, Node) and packet(value) not in SILENT else deep)
    return text if tight >= tightly else f"({text})"


def _times(node: Node, deep: int) -> str:
    alpha = node.kwargs.get("alpha", 1)
    return "" if alpha == 1 else f"{alpha}·"
