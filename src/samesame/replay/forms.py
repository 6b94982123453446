"""Graphs, sizes and constants as a certificate holds them: plain JSON, read with torch and with nothing of ours.

Nodes are objects with `name`, `operator`, `args`, `kwargs` and `type`; what JSON has no words for is an object with one
key: {"node": name}, {"size": form}, {"dtype": name}, {"float": text}, {"complex": [re, im]}.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

NARROW = ("int8", "uint8", "int16", "uint16")           # integers that may wrap around are kinds of their own
WIDEST = {"real": torch.float64, "int": torch.int64, "complex": torch.complex128, "bool": torch.bool}
FILES, RANDOM = ("from_file", "save"), torch.Tag.nondeterministic_seeded
WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
        torch.complex64: torch.complex128}


class Broken(Exception):
    """A certificate that does not establish what it says; the message is one sentence."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


def digest_of(value: torch.Tensor) -> str:
    """The same for tensors of equal shapes, kinds and elements, whatever their dtype."""
    wide = widened(value)
    raw = (torch.view_as_real(wide) if wide.is_complex() else wide).numpy().tobytes()
    return hashlib.sha256(repr((kind_of(value), tuple(value.shape))).encode() + raw).hexdigest()


def kind_of(value: torch.Tensor | str) -> str:
    """The kind of number that a tensor or a dtype's name holds: real, int, bool, complex, or a narrow integer."""
    name = value if isinstance(value, str) else str(value.dtype).removeprefix("torch.")
    plain = "bool" if name == "bool" else "complex" if "complex" in name else "real" if "float" in name else "int"
    return name if name in NARROW else plain


def widened(value: torch.Tensor) -> torch.Tensor:
    return value.detach().cpu().to(WIDEST.get(kind_of(value), value.dtype)).contiguous()


def slots(node: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """A node's arguments with numbered slots in place of nodes, as terms have them, and the nodes it reads."""
    reads: list[str] = []

    def go(argument: Any) -> Any:
        if isinstance(argument, dict) and "node" in argument:
            reads.append(argument["node"])
            return {"slot": len(reads) - 1}
        return list(map(go, argument)) if isinstance(argument, list) else argument

    return [go(node["args"]), [[name, go(value)] for name, value in node["kwargs"].items()]], reads


def type_of(form: Any) -> Any:
    """The type of a term, from that of a node."""
    if isinstance(form, dict):
        return list(map(type_of, form["several"]))
    return {"shape": form[1], "kind": kind_of(form[0])}


def symbols(form: Any) -> list[list[Any]]:
    """Every size symbol in nested JSON: ["size", name, least value]."""
    if isinstance(form, list) and len(form) == 3 and form[0] == "size":
        return [form]
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return [symbol for part in parts if isinstance(part, dict | list) for symbol in symbols(part)]


def numbers(form: Any) -> Iterator[float]:
    """The numbers among a block's arguments."""
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    for part in parts:
        yield from [float(part)] if isinstance(part, int | float) else numbers(part)


def spoken(size: Any) -> str:
    if not isinstance(size, list):
        return str(size)
    return str(size[1]) if size[0] == "size" else f"({f' {size[0]} '.join(map(spoken, size[1:]))})"


def real_of(x: Any, one: int) -> float:
    """A real of the second prover."""
    try:
        return float(x) if one == 1 else x / one
    except OverflowError:
        return math.copysign(math.inf, x)


def told(claim: dict[str, Any], place: int) -> str:
    """A size among the nodes of a claim."""
    tag, *parts = claim["nodes"][place]
    if tag in ("num", "size"):
        return str(parts[0])
    return f"({f' {tag} '.join(told(claim, p) for p in (parts[0] if isinstance(parts[0], list) else parts))})"


def number_at(form: Any, sizes: Mapping[str, int]) -> Any:
    """The number that a size is, as formula/sizes.py writes sizes."""
    if not isinstance(form, list):
        return form
    if form[0] == "size":
        return sizes[form[1]]
    if form[0] == "^":
        return number_at(form[1], sizes) ** (form[2] / form[3] if form[3] > 1 else form[2])
    parts = [number_at(part, sizes) for part in form[1:]]
    if form[0] in ("//", "mod"):
        return parts[0] // parts[1] if form[0] == "//" else parts[0] % parts[1]
    operations: dict[str, Any] = {"+": sum, "·": math.prod, "max": max, "min": min, "/": lambda ab: ab[0] / ab[1]}
    return operations[form[0]](parts)


def is_at(form: Any, given: Any, sizes: Mapping[str, int]) -> bool:
    """Is a part of a graph, at these sizes, what is given? A root of a size is the float nearest to it."""
    if isinstance(form, dict) and list(form) == ["size"]:
        number = number_at(form["size"], sizes)
        return type(given) in (int, float) and math.isclose(number, given, rel_tol=3e-7 * isinstance(number, float))
    if isinstance(form, list) and form and form[0] in ("size", "+", "·", "//", "mod", "max", "min", "^"):
        return type(given) is int and number_at(form, sizes) == given
    if isinstance(form, dict):
        return isinstance(given, dict) and form.keys() == given.keys() and all(
            is_at(form[key], given[key], sizes) for key in form)
    if isinstance(form, list):
        return isinstance(given, list) and len(form) == len(given) and all(
            is_at(a, b, sizes) for a, b in zip(form, given, strict=True))
    return type(form) is type(given) and form == given


def value_of(form: dict[str, Any]) -> torch.Tensor:
    """A constant, from its one number or the bytes of its elements."""
    dtype = WIDEST.get(form["kind"]) or getattr(torch, form["kind"])
    if "value" in form:
        return torch.full(form["shape"], argument_of(form["value"], {}), dtype=dtype)
    return torch.frombuffer(bytearray(base64.b64decode(form["data"])), dtype=dtype).reshape(form["shape"])


def argument_of(form: Any, readers: Mapping[str, Callable[[Any], Any]]) -> Any:
    """An argument, from its JSON."""
    if isinstance(form, list):
        return [argument_of(part, readers) for part in form]
    if not isinstance(form, dict):
        return form
    ((kind, value),) = form.items()
    if kind == "complex":
        return complex(*(argument_of(part, readers) for part in value))
    return {"float": float, **readers}[kind](value)


def operator(name: str) -> Any:
    """An operator that is registered with torch, by the name it has in graphs; None where there is none here."""
    namespace, packet, overload = [*name.split(".", 2), "", ""][:3]
    found = getattr(getattr(getattr(torch.ops, namespace, None), packet, None), overload, None)
    require(packet not in FILES, f"{name} reads or writes files")
    return found


def is_random(node: dict[str, Any]) -> bool:
    """Does it draw random numbers, other than for a dropout that is 0 or not in training?"""
    found = operator(node["operator"])
    if found is None or RANDOM not in found.tags:
        return False
    given = {argument.name: argument.default_value for argument in found._schema.arguments}
    given |= dict(zip(given, node["args"], strict=False)) | node["kwargs"]
    return given.get("dropout_p", 1) != 0 and given.get("train", True) is not False


def is_run(node: dict[str, Any], most: int, sizes: Mapping[str, int]) -> bool:
    """Can the node be run here, and is what it gives small enough?"""
    types = node["type"]["several"] if isinstance(node["type"], dict) else [node["type"]]
    small = all(math.prod(number_at(n, sizes) for n in shape) <= most for _, shape in types)
    return small and (node["operator"] in ("input", "constant", "getitem") or operator(node["operator"]) is not None)


def applied(node: dict[str, Any], values: Mapping[str, Any], sizes: Mapping[str, int],
             wide: Callable[[torch.dtype], torch.dtype]) -> Any:
    """What torch computes at a node; `wide` gives the dtype in place of one that it asks for."""
    readers: dict[str, Callable[[Any], Any]] = {
        "node": values.__getitem__, "size": lambda size: number_at(size, sizes),
        "dtype": lambda name: wide(getattr(torch, name))}
    args = argument_of(node["args"], readers)
    kwargs = {name: argument_of(form, readers) for name, form in node["kwargs"].items()}
    if node["operator"] == "getitem":
        return args[0][args[1]]
    found = operator(node["operator"])(*args, **kwargs)
    wider = isinstance(found, torch.Tensor) and wide(found.dtype) is not found.dtype
    return found.to(wide(found.dtype)) if wider else found
