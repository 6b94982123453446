"""The words that rewrites know: operators of torch as operators of terms, one line each.

A line is a word, torch's call, how many tensors it takes (`*`: a list of them), and its other arguments with what
they must be, and what they are where a step does not say. `transpose(x; 0, 1)` stands for `torch.transpose(x, 0, 1)`.
Steps that are none of these words are opaque. No rule speaks of those in the last lines yet: the generator of
algebra takes its operators from here, and compilers write these by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from samesame.fuzz.program import Ref, Step

TABLE = """
    neg torch.neg 1             abs torch.abs 1             square torch.square 1       relu torch.relu 1
    sign torch.sign 1           floor torch.floor 1         ceil torch.ceil 1           trunc torch.trunc 1
    exp torch.exp 1             sqrt torch.sqrt 1           sigmoid torch.sigmoid 1     reciprocal torch.reciprocal 1
    silu torch.nn.functional.silu 1                         rsqrt torch.rsqrt 1
    linear torch.nn.functional.linear 2                     pow torch.pow 1 number      logical_not torch.logical_not 1
    bitwise_not torch.bitwise_not 1                         clone torch.clone 1
    add torch.add 2             sub torch.sub 2             mul torch.mul 2             div torch.div 2
    maximum torch.maximum 2     minimum torch.minimum 2     eq torch.eq 2               ne torch.ne 2
    lt torch.lt 2               le torch.le 2               gt torch.gt 2               ge torch.ge 2
    logical_and torch.logical_and 2                         logical_or torch.logical_or 2
    logical_xor torch.logical_xor 2                         where torch.where 3
    matmul torch.matmul 2       matmul torch.mm 2           number torch.tensor 0 number dtype:dtype
    add_number torch.add 1 number                           mul_number torch.mul 1 number
    clamp_min torch.clamp_min 1 number                      cat torch.cat * dim=0
    transpose torch.transpose 1 dim dim                     flip torch.flip 1 sizes
    narrow torch.narrow 1 dim int int                       reshape torch.reshape 1 sizes
    sum torch.sum 1 dim keepdim:bool=False                  sum_all torch.sum 1
    amax torch.amax 1 dim keepdim:bool=False                amin torch.amin 1 dim keepdim:bool=False
    any torch.any 1 dim keepdim:bool=False                  all torch.all 1 dim keepdim:bool=False
    mean torch.mean 1 dim keepdim:bool=False                softmax torch.softmax 1 dim
    mean_all torch.mean 1       round torch.round 1         floor_divide torch.floor_divide 2
    remainder torch.remainder 2                             glu torch.nn.functional.glu 1 dim
    tile torch.tile 1 sizes     pad torch.nn.functional.pad 1 sizes
    floor_divide_number torch.floor_divide 1 number         remainder_number torch.remainder 1 number
"""


@dataclass(frozen=True, slots=True)
class Given:
    """An argument that is no tensor: its keyword, what it must be, and what it is where a step does not say (None: it
    must)."""

    keyword: str
    kind: str
    default: Any = None


@dataclass(frozen=True, slots=True)
class Word:
    """`tensors` is how many it takes; None for a list of them."""

    name: str
    call: str
    tensors: int | None
    given: tuple[Given, ...]

    def attributes(self, step: Step, rank: Callable[[str], int]) -> tuple[Any, ...] | None:
        """The step's other arguments, if it is this word; `rank` gives that of a value by its name."""
        many = 1 if self.tensors is None else self.tensors
        tensors, rest = step.args[:many], step.args[many:]
        if self.tensors is None and tensors and isinstance(tensors[0], list | tuple):
            tensors = tuple(tensors[0])
        if (not tensors and self.tensors != 0) or not all(isinstance(tensor, Ref) for tensor in tensors):
            return None
        if len(rest) > len(self.given) or not set(step.kwargs) <= {given.keyword for given in self.given[len(rest) :]}:
            return None
        found = [*rest, *(step.kwargs.get(given.keyword, given.default) for given in self.given[len(rest) :])]
        dims = rank(tensors[0].name) if tensors else 0
        read = [KINDS[given.kind](value, dims) for given, value in zip(self.given, found, strict=True)]
        return None if None in read else tuple(read)

    def step(self, result: str, tensors: list[str], attributes: tuple[Any, ...]) -> Step:
        """The word as a step."""
        refs: tuple[Any, ...] = tuple(map(Ref, tensors))
        kwargs = {g.keyword: value for g, value in zip(self.given, attributes, strict=True) if g.kind in KEYWORDS}
        plain = [value for g, value in zip(self.given, attributes, strict=True) if g.kind not in KEYWORDS]
        return Step((result,), self.call, ((list(refs),) if self.tensors is None else refs) + tuple(plain), kwargs)


KEYWORDS = ("bool", "dtype")
KINDS: Mapping[str, Callable[[Any, int], Any]] = {               # the argument as an attribute; None: not this word
    "number": lambda value, rank: value if type(value) in (int, float) else None,
    "int": lambda value, rank: value if type(value) is int else None,
    "bool": lambda value, rank: value if type(value) is bool else None,
    "dim": lambda value, rank: _dim(value[0] if _ints(value) and len(value) == 1 else value, rank),
    "sizes": lambda value, rank: tuple(value) if _ints(value) else (value,) if type(value) is int else None,
    "dtype": lambda value, rank: value if isinstance(value, torch.dtype) else None,
}


def _dim(value: Any, rank: int) -> int | None:
    return value % rank if type(value) is int and rank else None


def _ints(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(part) is int for part in value)


def _read(table: str) -> Iterator[Word]:
    for entry in (part.split() for line in table.splitlines() for part in re.split(" {3,}", line) if part):
        name, call, tensors, *rest = entry
        given = []
        for part in rest:
            named, _, default = part.partition("=")
            keyword, _, kind = named.rpartition(":")
            given.append(Given(keyword or kind, kind, {"": None, "0": 0, "False": False}[default]))
        yield Word(name, call, None if tensors == "*" else int(tensors), tuple(given))


WORDS: dict[str, Word] = {}
WORDS_OF: dict[str, list[Word]] = {}
for _word in _read(TABLE):
    WORDS.setdefault(_word.name, _word)
    WORDS_OF.setdefault(_word.call, []).append(_word)
