"""What one rank runs: a program whose weights and inputs may be DTensors.

A DTensor is a wrapper of the local tensor that this rank holds, and that is what has its name here, with which part of
the whole it is. DistributedDataParallel's buckets are opened before anything runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.fsdp._common_utils import clean_tensor_name
from torch.distributed.fsdp._flat_param import FlatParameter
from torch.distributed.tensor import DTensor
from torch.utils._pytree import tree_leaves

from samesame.capture.memory import address, has_memory, place_of
from samesame.capture.program import Program, holdings, referred
from samesame.capture.ranks.ddp import marks_of, open_reducers
from samesame.capture.ranks.fsdp import forget_views, parts_of
from samesame.capture.ranks.placements import Placed, placed


def modules_in(thing: Any, depth: int = 2) -> Iterator[nn.Module]:
    """A module, and those that it or a container keeps aside: in a list, say, so that they are no parts of it."""
    aside: Iterable[Any] = ()
    if isinstance(thing, nn.Module):
        yield thing
        aside = [value for part in thing.modules() for name, value in vars(part).items() if name != "_modules"]
    elif isinstance(thing, dict):
        aside = thing.values()
    elif type(thing) in (list, tuple):
        aside = thing
    for value in aside if depth else ():
        yield from modules_in(value, depth - 1)


MANAGED = ("FSDPModule", "FullyShardedDataParallel")     # wrappers whose weights come and go


class RankProgram(Program):
    """A program whose parameters and inputs may be DTensors: their local tensors have the names. It may return nothing,
    as a step of training or the first stage of a pipeline does."""

    gradients = True

    def __init__(self, program: Any, inputs: Any, *, alone: bool = True) -> None:
        self.alone = alone
        self.placed: dict[str, Placed] = {}
        self.leaves: dict[str, torch.Tensor] = {}          # floating inputs, as the program gets them
        forget_views(part for _, part in referred(program) if isinstance(part, nn.Module))
        super().__init__(program, inputs)
        self.weights: dict[str, torch.Tensor] = {}
        self.places: dict[int, list[torch.Tensor]] = {}    # the weights, by the memory that they are in, as they lie
        self.flat: dict[str, tuple[FlatParameter, int, int]] = {}      # weights that lie in a flat one, and where
        self.parts = [part for _, thing in referred(program) for part in modules_in(thing)]
        self.buckets, self.marks = open_reducers(self.parts), marks_of(self.parts)
        seen = set[int]()
        self.names = {place: (kind, clean_tensor_name(name)) for place, (kind, name) in self.names.items()}
        for kind, path, tensor in holdings(program)[1]:
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            name = clean_tensor_name(path)
            if isinstance(tensor, FlatParameter):
                self.open_flat(tensor, path)
                continue
            if isinstance(tensor, DTensor):
                local = local_of(tensor)
                self.held.append(local)
                self.names[place_of(local)] = kind, name
                self.placed[name] = placed(tensor)
            if kind == "parameter" and tensor.requires_grad:
                self.weights[name] = tensor
            if kind == "parameter" and has_memory(local_of(tensor)):
                self.places.setdefault(address(local_of(tensor)), []).append(local_of(tensor).detach())
        managed = any(kind.__name__ in MANAGED for module in self.parts for kind in type(module).__mro__)
        self.holders = [(table, key, tensor, address(tensor), self.names.get(place_of(tensor), ("", ""))[1])
                        for module in self.parts
                        for table in ((module._buffers,) if managed else (module._parameters, module._buffers))
                        for key, tensor in table.items() if tensor is not None and has_memory(tensor)]
        self.stood = {name: weight.grad for name, weight in self.weights.items()}      # the gradients before the call

    def put_instead(self, after: str) -> list[tuple[str, torch.Tensor]]:
        """What stands at the end in place of weights and buffers that the program has not written into but replaced
        (`self.mean = …`, `weight.data = …`), by names that end so. Weights that a wrapper keeps in pieces are left out:
        it replaces them, and puts them back."""
        found: dict[str, torch.Tensor] = {}
        for table, key, tensor, place, name in self.holders:
            now = table.get(key)
            if name and now is not None and has_memory(now) and (now is not tensor or address(now) != place):
                found[f"{name}{after}"] = now.detach()
        return list(found.items())

    def gradients_left(self, after: str) -> list[tuple[str, torch.Tensor]]:
        """The gradients that the program itself has left at weights, by names that end so."""
        return [(f"grad.{name}{after}", weight.grad) for name, weight in self.weights.items()
                if weight.grad is not None and weight.grad is not self.stood[name]]

    def open_flat(self, flat: FlatParameter, path: str) -> None:
        """The parts of weights that lie in a flat one have the names."""
        self.names.pop(place_of(flat), None)
        for name, start, stop in parts_of(flat, path):
            part = flat.detach()[start:stop]
            self.names[place_of(part)] = "parameter", name
            self.places.setdefault(address(part), []).append(part)
            self.flat[name] = flat, start, stop

    def copy(self, leaf: Any, name: str) -> Any:
        made = super().copy(local_of(leaf) if isinstance(leaf, DTensor) else leaf, name)
        if isinstance(leaf, DTensor):
            self.placed[name] = placed(leaf)
            made = DTensor.from_local(
                made, leaf.device_mesh, leaf.placements, run_check=False, shape=leaf.shape, stride=leaf.stride()
            )
        if isinstance(made, torch.Tensor) and made.is_floating_point():
            self.leaves[name] = made
        return made

    def roots(self, outputs: Any) -> list[tuple[str, torch.Tensor]]:
        if all(leaf is None for leaf in tree_leaves(outputs)):
            return []
        return unquoted(super().roots(outputs))


def unquoted(roots: list[tuple[str, torch.Tensor]]) -> list[tuple[str, torch.Tensor]]:
    """Keys such as `grad.up.weight` as jobs write them, `expected` and all, where no other output has that name."""
    plain = {name: re.sub(r"^\['([\w.]+)'\]$", r"\1", name) for name, _ in roots}
    times = Counter(plain.values())
    return [(plain[name] if times[plain[name]] == 1 else name, tensor) for name, tensor in roots]


def local_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that this rank holds of a DTensor, or of one that is still under way; another tensor itself."""
    with torch.no_grad():
        if isinstance(tensor, DTensor):
            tensor = tensor.to_local()
        return tensor.wait() if isinstance(tensor, AsyncCollectiveTensor) else tensor
