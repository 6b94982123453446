"""Interface: what calls show to their caller besides the numbers in their tensors.

A caller unpacks a tuple, asks a dict for a key, multiplies by a dtype, writes into a result in place, and calls once
more. So two programs that compute the same numbers may still not be the same to him. Here is all of that as data: the
*structure* of what a call returns, with the plain Python *values* in it; what memory a result shares (*aliasing*); and
the *state* that a call leaves behind. `differences` compares two of these part by part; what differs is a `Difference`
of one of the KINDS, each of which can be ignored by name.

A place in nested results is a path. Its name is the dotted text where every key is an ordinary name (`states.0.key`);
other keys are quoted (`['a.b'].c`), and a number as a key of a dict stands in brackets (`[1]`), so no two places of one
result have one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KINDS = {
    "structure": "tuple, list, dict; nesting, keys, None against a tensor, how many",
    "values": "Python numbers, strings and other plain values beside the tensors",
    "dtype": "dtypes of the outputs",
    "shape": "shapes of the outputs, where they have as many elements",
    "aliasing": "whether an output is, or shares memory with, an input, the program's state or another output",
    "state": "what calls leave behind: tensors written in place, attributes, a second call",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which two interfaces differ: its kind, and a sentence without a full stop. `final`: no option makes
    up for it, such as a tensor that the other side does not return at all."""

    kind: str
    text: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """How a result is put together. `kind` is tensor, none, value, cache (left out), tuple, list, dict, fields (an
    object with named parts) or output (a Transformers ModelOutput, which is a tuple and a dict at once); `path` is the
    name of a tensor; `parts` are by key, and `value` is that of a plain value."""

    kind: str
    path: str = ""
    parts: tuple[tuple[Any, Structure], ...] = ()
    value: Any = None

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the tensors in it, in order."""
        own = (self.path,) if self.kind == "tensor" else ()
        return (*own, *(name for _, part in self.parts for name in part.tensors))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of caches in it, which are not compared."""
        own = (self.path,) if self.kind == "cache" else ()
        return (*own, *(name for _, part in self.parts for name in part.left_out))

    def __str__(self) -> str:
        match self.kind:
            case "value":
                return repr(self.value)
            case "none":
                return "None"
            case "tensor":
                return "a tensor"
            case "cache":
                return "a key-value cache"
            case "tuple" | "list":
                return f"a {self.kind} of {len(self.parts)}"
            case "dict":
                return f"a dict of {', '.join(str(key) for key, _ in self.parts) or 'nothing'}"
        return f"{_named(str(self.value))} of {', '.join(str(key) for key, _ in self.parts) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class State:
    """A tensor that a call leaves changed: whose (`input`, `module`), its name, after which call, and the root that
    holds it."""

    whose: str
    name: str
    call: int
    root: str


Aliases = Mapping[str, frozenset[tuple[str, str]]]         # by output: what it shares memory with, and how


@dataclass(frozen=True, slots=True)
class Interface:
    """What one program's calls show: the names of its arguments, in order; what each call returns; what the outputs
    share memory with; tensors left changed. `values` are the plain values that its attributes, globals and variables
    hold after each call, by path, and `changed` those which a call has changed; `taken` and `changed_in_arguments` are
    the same of the containers among its arguments. `lost` names state that was seen to
    change and cannot be compared, `hooks` the parts with hooks that only a backward pass runs. Of two calls: the nodes
    that are `left_behind` by the first for the second to read, and whether Python's values are `moving` on in the
    second."""

    arguments: tuple[str, ...]
    structures: tuple[Structure, ...]
    aliases: Aliases = field(default_factory=dict)
    states: tuple[State, ...] = ()
    values: tuple[Mapping[str, Any], ...] = ()
    changed: frozenset[str] = frozenset()
    taken: tuple[Mapping[str, Any], ...] = ()
    changed_in_arguments: frozenset[str] = frozenset()
    lost: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    left_behind: frozenset[str] = frozenset()
    moving: bool = False


# --------------------------------------------------------------------------------------------------------------- names


def path_name(prefix: tuple[str, ...], keys: Iterable[Any]) -> str:
    """The name of a place; `keys` are positions (int), names of fields or keys of dicts (`Key`)."""
    text = ".".join(prefix)
    for key in keys:
        if isinstance(key, Key) and not (isinstance(key.key, str) and key.key.isidentifier()):
            text += f"[{key.key!r}]"
        else:
            text += f"{'.' if text else ''}{key.key if isinstance(key, Key) else key}"
    return text


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a dict."""

    key: Any

    def __str__(self) -> str:
        return self.key if isinstance(self.key, str) and self.key.isidentifier() else repr(self.key)


def spoken(root: str) -> str:
    """A root in a sentence: `output 0`, `second call: output 0`, `running_mean after the call`."""
    return root if root.startswith(SECOND) or root.endswith(AFTER) else f"output {root}"


SECOND = "second call: "
AFTER = (" after the call", " after the second call")


def returned_root(name: str, call: int) -> str:
    """The root of a tensor that a call returns. No path has a colon or a blank outside of quotes."""
    return name if call == 0 else f"{SECOND}output {name}"


def state_root(name: str, call: int) -> str:
    return name + AFTER[call]


def _named(thing: str) -> str:
    return f"{'an' if thing[:1].lower() in 'aeio' else 'a'} {thing}"


# ----------------------------------------------------------------------------------------------------------- structures


def differing(left: Structure, right: Structure, where: str = "") -> Iterator[Difference | tuple[str, str]]:
    """What differs between two structures, and the pairs of tensors (by name) that stand in one place of both.

    A dict and an object with fields are the same where they have the same keys; None in a field is a field that is not
    there. A ModelOutput is also what else it can be read as: the tuple of its tensors, or, where it holds one, that.
    """
    here = where or "the result"
    if left.kind != right.kind and "output" in (left.kind, right.kind):
        left, right = _read_as(left, right.kind), _read_as(right, left.kind)
    if left.kind in MAPPINGS and right.kind in MAPPINGS:
        yield from _by_key(left, right, where)
        return
    sequences = left.kind in SEQUENCES and right.kind in SEQUENCES
    if left.kind != right.kind or (sequences and len(left.parts) != len(right.parts)):
        yield Difference("structure", f"{_output(here)} is {left} on the left and {right} on the right",
                         final=len(left.tensors) != len(right.tensors))
    if sequences:
        for (key, mine), (_, yours) in zip(left.parts, right.parts, strict=False):
            yield from differing(mine, yours, path_name((where,) if where else (), [key]))
    elif left.kind != right.kind:
        return
    elif left.kind == "tensor":
        yield left.path, right.path
    elif left.kind == "value" and not same_value(left.value, right.value):
        yield Difference("values", f"{_output(here)} is {left} on the left and {right} on the right")


def same_value(a: Any, b: Any) -> bool:
    """Whether two plain values are the same: of one type, and written alike."""
    return type(a) is type(b) and repr(a) == repr(b)


SEQUENCES = ("tuple", "list")
MAPPINGS = ("dict", "fields", "output")


def _by_key(left: Structure, right: Structure, where: str) -> Iterator[Difference | tuple[str, str]]:
    loose = left.kind != "dict" or right.kind != "dict"
    mine, yours = ({key: part for key, part in side.parts if not (loose and part.kind in ("none", "cache"))}
                   for side in (left, right))
    for key in dict.fromkeys((*mine, *yours)):
        place = path_name((where,) if where else (), [Key(key)])
        if key in mine and key in yours:
            yield from differing(mine[key], yours[key], place)
        else:
            part = mine.get(key) or yours[key]
            side = "left" if key in mine else "right"
            yield Difference("structure", f"{_output(place)} is {part} on the {side} and missing on the other side",
                             final=bool(part.tensors))


def _read_as(found: Structure, kind: str) -> Structure:
    """A ModelOutput as a tuple, or as the one tensor that it holds, where the other side is one."""
    parts = [part for _, part in found.parts if part.kind not in ("none", "cache")]
    if found.kind != "output":
        return found
    if kind == "tuple":
        return Structure("tuple", parts=tuple(enumerate(parts)))
    return parts[0] if kind == "tensor" and len(parts) == 1 else found


def _output(place: str) -> str:
    return place if place == "the result" else f"output {place}"


# ------------------------------------------------------------------------------------------------- two whole interfaces


def aliasing(pairs: Sequence[tuple[str, str]], left: Interface, right: Interface) -> Iterator[Difference]:
    """Outputs that share memory on one side and not, or otherwise, on the other. Inputs are named alike."""
    names = {b: a for a, b in pairs}
    for mine, yours in pairs:
        own = left.aliases.get(mine, frozenset())
        other = frozenset((names.get(what, what), how) for what, how in right.aliases.get(yours, frozenset()))
        if own != other:
            text = f"{spoken(mine)} {_shared(own)} on the left and {_shared(other)} on the right"
            yield Difference("aliasing", text)


def _shared(found: frozenset[tuple[str, str]]) -> str:
    if not found:
        return "has memory of its own"
    if {what for what, _ in found} == {ITSELF}:
        return "is expanded, so that its elements share memory,"
    told = [f"is {what} itself" if how == WHOLE else f"shares memory with {what}"
            for what, how in sorted(found) if what != ITSELF]
    return " and ".join(dict.fromkeys(told))


ITSELF = "itself"
WHOLE = "whole"                                            # how a tensor lies in another: as all of it, in its order


def python_values(left: Interface, right: Interface) -> Iterator[Difference]:
    """Plain values of one name that a call has changed on either side, and that differ afterwards. In an argument, what
    is there on one side only differs too."""
    told: set[str] = set()
    names, shared = left.changed | right.changed, left.changed_in_arguments | right.changed_in_arguments
    for changed, mine, yours in ((names, left.values, right.values), (shared, left.taken, right.taken)):
        for call, (own, other) in enumerate(zip(mine, yours, strict=False)):
            for name in sorted(changed - told):
                both = name in own and name in other
                if (both and same_value(own[name], other[name])) or (not both and changed is names):
                    continue
                told.add(name)
                sides = (repr(held[name]) if name in held else "missing" for held in (own, other))
                text = " on the left and ".join(sides)
                yield Difference("state", f"{state_root(name, call)} is {text} on the right")
