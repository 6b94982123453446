"""Graphs, sizes and constants as a certificate holds them: plain JSON, read with torch and with nothing of ours.

Nodes are objects with `name`, `operator`, `args`, `kwargs` and `type`; what JSON has no words for is an object with one
key: {"node": name}, {"size": form}, {"dtype": name}, {"float": text}, {"complex": [re, im]}.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

NARROW = ("int8", "uint8", "int16", "uint16", "uint32", "uint64")    # they may wrap around, and are kinds of their own
WIDEST = {"real": torch.float64, "int": torch.int64, "complex": torch.complex128, "bool": torch.bool}
FILES, RANDOM = ("from_file", "save"), torch.Tag.nondeterministic_seeded
WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
        torch.complex64: torch.complex128}
IDENTITIES = frozenset("aten." + name for name in (
    "alias", "detach", "clone", "contiguous", "lift", "lift_fresh", "lift_fresh_copy", "_to_copy", "to", "type_as",
    "positive", "_conj_physical_if_real", "alias_copy", "detach_copy"))
ARITHMETIC: dict[str, Callable[..., Any]] = {           # of sizes
    "+": lambda *parts: sum(parts), "·": lambda *parts: math.prod(parts), "//": lambda a, b: a // b,
    "mod": lambda a, b: a % b, "/": lambda a, b: a / b, "max": max, "min": min,
    "^": lambda base, above, below: base ** (above / below if below > 1 else above)}
SIZE = re.compile(r'\["size",("(?:[^"\\]|\\.)*"),([^][,]+)\]')
told = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode       # 1, 1.0 and True differ


class Broken(Exception):
    """A certificate that does not establish what it says; the message is one sentence."""


def counted(things: Sized, word: str) -> str:
    """`1 output`, `2 outputs`."""
    return f"{len(things)} {word}{'s' * (len(things) != 1)}"


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


def digest(form: Any) -> str:
    return digest_of_text(told(form))


def digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(value: torch.Tensor) -> str:
    """The same for tensors of equal shapes, kinds and elements, whatever their dtype."""
    wide = widened(value)
    raw = (torch.view_as_real(wide) if wide.is_complex() else wide).numpy().tobytes()
    return hashlib.sha256(repr((kind_of(value.dtype), tuple(value.shape))).encode() + raw).hexdigest()


@cache
def kind_of(dtype: torch.dtype | str) -> str:
    """The kind of number that a dtype is for: real, int, bool, complex, or a narrow integer."""
    name = str(dtype).removeprefix("torch.")
    plain = "bool" if name == "bool" else "complex" if "complex" in name else "real" if "float" in name else "int"
    return name if name in NARROW else plain


def widened(value: torch.Tensor) -> torch.Tensor:
    return value.detach().cpu().to(WIDEST.get(kind_of(value.dtype), value.dtype)).contiguous()


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph or of a proof's block as terms say it, in texts that are equal where the terms agree."""

    form: dict[str, Any]
    name: str
    operator: str
    said: str               # its arguments, numbered slots in place of the nodes it reads
    read_types: str         # the types of the nodes it reads
    type: str
    reads: list[str]

    @property
    def is_identity(self) -> bool:
        return self.operator.rsplit(".", 1)[0] in IDENTITIES and bool(self.reads)


def nodes_of(graph: dict[str, Any]) -> list[Node]:
    """The nodes of a graph in order. Raises Broken where one stands twice, or before one that it reads."""
    types: dict[str, Any] = {}
    found = []
    for form in graph["nodes"]:
        reads: list[str] = []
        said = [_slots(form["args"], reads), [[name, _slots(value, reads)] for name, value in form["kwargs"].items()]]
        require(form["name"] not in types and all(read in types for read in reads),
                f"{form['name']} stands twice, or before a tensor that it reads")
        found.append(Node(form, form["name"], form["operator"], told(said), told([[types[read] for read in reads]]),
                          told(_type_of(form["type"])), reads))
        types[form["name"]] = form["type"]
    return found


def _slots(argument: Any, reads: list[str]) -> Any:
    if isinstance(argument, dict) and "node" in argument:
        reads.append(argument["node"])
        return {"slot": len(reads) - 1}
    return [_slots(part, reads) for part in argument] if isinstance(argument, list) else argument


def _type_of(form: Any) -> Any:
    """The type of a term, from that of a node."""
    return [*map(_type_of, form["several"])] if isinstance(form, dict) else {"shape": form[1], "kind": kind_of(form[0])}


def symbols(form: Any) -> set[tuple[str, int]]:
    """Every size symbol in nested JSON, ["size", name, least value], or in its text."""
    found = set(SIZE.findall(form if isinstance(form, str) else told(form)))
    return {(json.loads(name), json.loads(least)) for name, least in found}


def numbers(form: Any) -> Iterator[float]:
    """The numbers among a block's arguments."""
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    for part in parts:
        yield from [float(part)] if isinstance(part, int | float) else numbers(part)


def spoken(size: Any) -> str:
    if not isinstance(size, list):
        return str(size)
    return str(size[1]) if size[0] == "size" else f"({f' {size[0]} '.join(map(spoken, size[1:]))})"


def bound(claim: dict[str, Any], place: int) -> str:
    """A size among the nodes of a claim, to be read."""
    tag, *parts = claim["nodes"][place]
    if tag in ("num", "size"):
        return str(parts[0])
    return f"({f' {tag} '.join(bound(claim, p) for p in (parts[0] if isinstance(parts[0], list) else parts))})"


def number_at(form: Any, sizes: Mapping[str, int]) -> Any:
    """The number that a size is, as formula/sizes.py writes sizes."""
    if not isinstance(form, list):
        return form
    if form[0] == "size":
        return sizes[form[1]]
    return ARITHMETIC[form[0]](*(number_at(part, sizes) for part in form[1:]))


def is_at(form: Any, given: Any, sizes: Mapping[str, int]) -> bool:
    """Is a part of a graph, at these sizes, what is given? A root of a size is the float nearest to it."""
    if isinstance(form, dict) and list(form) == ["size"]:
        number = number_at(form["size"], sizes)
        return type(given) in (int, float) and math.isclose(number, given, rel_tol=3e-7 * isinstance(number, float))
    if isinstance(form, list) and form and form[0] in ("size", *ARITHMETIC):
        return type(given) is int and bool(number_at(form, sizes) == given)
    if isinstance(form, dict) and isinstance(given, dict):
        return form.keys() == given.keys() and all(is_at(form[key], given[key], sizes) for key in form)
    if isinstance(form, list) and isinstance(given, list):
        return len(form) == len(given) and all(is_at(a, b, sizes) for a, b in zip(form, given, strict=True))
    return type(form) is type(given) and bool(form == given)


def value_of(form: dict[str, Any]) -> torch.Tensor:
    """A constant, from its one number or the bytes of its elements."""
    dtype = WIDEST.get(form["kind"]) or getattr(torch, form["kind"])
    if "value" in form:
        return torch.full(form["shape"], argument_of(form["value"], {}), dtype=dtype)
    content = bytearray(base64.b64decode(form["data"]))
    return (torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)).reshape(form["shape"])


def without_elements(type_: dict[str, Any]) -> torch.Tensor:
    """A tensor that has a type only."""
    return torch.empty(type_["shape"], dtype=WIDEST.get(type_["kind"]) or getattr(torch, type_["kind"]), device="meta")


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
    """An operator that is registered with torch, by the name it has in graphs; None where there is none here, or one
    that writes into what it is given, which no operator of a graph does."""
    namespace, packet, overload = [*name.split(".", 2), "", ""][:3]
    found = getattr(getattr(getattr(torch.ops, namespace, None), packet, None), overload, None)
    require(packet not in FILES, f"{name} reads or writes files")
    return None if found is not None and found._schema.is_mutable else found


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


@dataclass(frozen=True, slots=True)
class Read:
    """A node whose value stands here in a call."""

    name: str


def call_of(node: dict[str, Any], sizes: Mapping[str, int], wide: Callable[[torch.dtype], torch.dtype]) -> Any:
    """What torch computes at a node, as a function of the values before it; `wide` gives the dtype in place of one that
    the node asks for."""
    readers: dict[str, Callable[[Any], Any]] = {
        "node": Read, "size": lambda size: number_at(size, sizes), "dtype": lambda name: wide(getattr(torch, name))}
    args = argument_of(node["args"], readers)
    kwargs = argument_of(list(node["kwargs"].values()), readers)
    found = operator(node["operator"]) if node["operator"] != "getitem" else None

    def call(values: Mapping[str, Any]) -> Any:
        given, named = _read(args, values), dict(zip(node["kwargs"], _read(kwargs, values), strict=True))
        if found is None:
            return given[0][given[1]]
        value = found(*given, **named)
        wider = isinstance(value, torch.Tensor) and wide(value.dtype) is not value.dtype
        return value.to(wide(value.dtype)) if wider else value

    return call


def _read(parts: list[Any], values: Mapping[str, Any]) -> list[Any]:
    return [values[part.name] if type(part) is Read else _read(part, values) if type(part) is list else part
            for part in parts]
