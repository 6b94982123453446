"""Telling weights: the programs of a job made with weights that say by their numbers which they are.

Which piece of a sequential weight a rank has loaded, its numbers tell, and zeros and ones do not: a rank with another's
half of a zero bias, or with the norm of another layer, looks as good as the right one. A job makes its programs by
functions, so they can be made again: in each module that the sequential function returns, and in each new one of that
module's class, weights that hold one number, or the numbers of another, get some of their own, by their names. What a
rank loads from there it then has in new numbers. A rank that fills in zeros itself instead of loading them shows as
well: then the weights are left as they are given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from inspect import isclass
from typing import Any
from unittest.mock import patch
from zlib import crc32

import torch
from torch import nn

from samesame.capture.memory import has_memory
from samesame.capture.program import holdings, referred
from samesame.capture.ranks.graphs import RankGraph
from samesame.programs.named import asks_for

_SHOWN = 6


class Telling:
    """The tensors that were given numbers of their own, with those that they had. `kinds` are the kinds of tensors,
    as `holdings` has them, for which that is done, and `ranks` how many pieces each may be cut into."""

    def __init__(self, kinds: Sequence[str], ranks: int) -> None:
        self.kinds, self.ranks = kinds, ranks
        self.before: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.named: dict[str, torch.Size] = {}             # of the sequential program's, with their shapes
        self.constants: dict[str, float] = {}              # the number that buffers held, by the last part of the name

    @contextmanager
    def made(self, sequential: Any, distributed: Any) -> Iterator[Any]:
        """Inside, whoever calls what makes the sequential program gets one with such weights; gives what makes it.
        Afterwards modules that live on hold what they held before."""
        make = sequential
        with ExitStack() as stack:
            if not isinstance(sequential, nn.Module) and not asks_for(sequential):
                make = self.telling_make(sequential)
                for place in _places_of(sequential, distributed) if not isclass(sequential) else ():
                    place(stack, make)                     # a class stays itself: of_class
            try:
                yield make
            finally:
                with torch.no_grad():
                    for tensor, value in reversed(self.before):
                        tensor.copy_(value)

    def telling_make(self, sequential: Any) -> Any:
        @wraps(sequential, updated=())
        def make(*args: Any, **kwargs: Any) -> Any:
            program = sequential(*args, **kwargs)
            self.tell_all(program)
            return program

        return make

    @contextmanager
    def of_class(self, program: Any) -> Iterator[None]:
        """Inside, new modules of the classes of which the program is made get such weights too."""
        kinds = dict.fromkeys(type(thing) for _, thing in referred(program) if isinstance(thing, nn.Module))
        with ExitStack() as stack:
            for kind in kinds if self.named else ():
                if not kind.__module__.startswith("torch."):
                    stack.enter_context(patch.object(kind, "__init__", self.telling_init(kind.__init__)))
            yield

    def telling_init(self, init: Callable[..., None]) -> Callable[..., None]:
        @wraps(init)
        def made(module: Any, *args: Any, **kwargs: Any) -> None:
            init(module, *args, **kwargs)
            self.tell(module)

        return made

    def tell_all(self, program: Any) -> None:
        """Give the weights of a sequential program that tell nothing numbers that do."""
        found = list(self.silent(program))
        self.named |= {name: tensor.shape for name, tensor in found}
        for kind, name, tensor in holdings(program)[1]:
            if kind == "constant" and any(tensor is other for _, other in found):
                self.constants[name.rpartition(".")[2]] = float(tensor.flatten()[0])
        self.tell(program)

    def tell(self, program: Any) -> None:
        """Give those weights of a program numbers that tell which the sequential one has by this name, as large."""
        for name, tensor in list(self.silent(program)):
            if self.named.get(name) == tensor.shape:
                self.before.append((tensor, tensor.detach().clone()))
                with torch.no_grad():
                    tensor.copy_(numbers(name, tensor))

    def silent(self, program: Any) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors of a program, by name, whose numbers do not tell which they are, or which part of them is where:
        all but the first of those that hold the same."""
        seen: set[tuple[object, ...]] = set()
        met = set[int]()
        for kind, name, tensor in holdings(program)[1]:
            if id(tensor) not in met and has_memory(tensor) and tensor.is_floating_point() and tensor.numel() > 1:
                key = tuple(tensor.shape), tensor.dtype, tensor.detach().cpu().double().numpy().tobytes()
                if kind in self.kinds and (key in seen or repeats(tensor, self.ranks)):
                    yield name, tensor
                seen.add(key)
            met.add(id(tensor))

    def notes(self) -> list[str]:
        """What to say of it."""
        names = list(self.named)
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        told = f"Weights that hold one number throughout, or those of another, were given their own: {shown}."
        return [told] if names else []

    def reached(self, ranks: Iterable[RankGraph]) -> bool:
        """Whether the ranks load the buffers from where they were told, and do not make their own."""
        return not any(
            self.constants.get(node.origin.parameter.rpartition(".")[2]) == float(tensor.flatten()[0])
            and bool((tensor == tensor.flatten()[0]).all())
            for graph in ranks for node in graph.sources("constant")
            if (tensor := graph.tensors[node.name]).numel() >= 2 and tensor.is_floating_point()
        )


def repeats(tensor: torch.Tensor, ranks: int) -> bool:
    """Whether pieces that ranks may have of a tensor hold the same numbers."""
    for dim in range(tensor.dim()):
        for number in {2, ranks} - {1}:
            first, *others = tensor.chunk(number, dim)
            if any(torch.equal(first, other) for other in others):
                return True
    return False


def numbers(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Numbers near those of the tensor, by its name; what is not negative stays so."""
    dice = torch.Generator().manual_seed(crc32(name.encode()))
    noise = torch.rand(tensor.shape, generator=dice, dtype=torch.float64) * 0.4 + 0.05
    return (tensor.detach().double().cpu() + noise).to(tensor.dtype)


Place = Callable[[ExitStack, Any], None]


def _places_of(sequential: Any, distributed: Any) -> Iterator[Place]:
    """Where the functions of a job find the one that makes the sequential program: in a module, or around them."""
    functions = [function for function in map(_bare, (sequential, distributed)) if function is not None]
    spaces = {id(space): space for function in functions for space in [_globals(function)]}
    for space in spaces.values():
        for name in [name for name, value in space.items() if value is sequential]:
            yield partial(_rename, space, name)
    for function in functions:
        for cell in getattr(function, "__closure__", None) or ():
            if _content(cell) is sequential:
                yield partial(_swap, cell)


def _bare(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def _globals(function: Any) -> dict[str, Any]:
    if hasattr(function, "__globals__"):
        return function.__globals__                                                        # type: ignore[no-any-return]
    return vars(sys.modules.get(getattr(function, "__module__", ""), sys))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:                                     # the variable has no value yet
        return None


def _rename(space: dict[str, Any], name: str, stack: ExitStack, make: Any) -> None:
    stack.enter_context(patch.dict(space, {name: make}))


def _swap(cell: Any, stack: ExitStack, make: Any) -> None:
    stack.callback(setattr, cell, "cell_contents", cell.cell_contents)
    cell.cell_contents = make
