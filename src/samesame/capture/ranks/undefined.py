"""Undefined memory: what a reduction to one rank leaves on the others.

After `dist.reduce(y, dst)` only dst has the sum. What the others have in y then depends on the backend: gloo leaves a
part of the sum there, NCCL what was there before. Who looks at it computes something else on every system, so that is
a fault as it is to look at memory too early. Writing is none: what was written is settled, and the rest is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from samesame.capture.ranks.waiting import Begun, Unawaited, UnderWay, touches
from samesame.evidence import Refused
from samesame.operators.execute import tensors_in, written

SHAPES_ONLY = frozenset((                                  # what they read of a tensor is its shape
    "empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like",
    "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros",
))
OVERWRITES = frozenset((                                   # in place, whatever was there
    "copy_", "zero_", "fill_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "_foreach_copy_",
    "_foreach_zero_",
))
BY_INDEX = ("index", "_index", "scatter", "masked", "put")  # in place, where data say


@dataclass
class Unsettled(UnderWay):
    """The same, which also follows what reductions to other ranks leave, and what is written there since."""

    def begin(self, one: Begun) -> None:
        super().begin(one)
        if str(one) != "reduce":
            return
        for node, tensor in zip(one.nodes, one.reads, strict=True):
            if (dst := node.kwargs["dst"]) != self.rank:
                what = self.named(tensor) or "a tensor"
                sentence = (f"rank {self.rank} looks at {what} after the reduce of {one.origin.spoken}, which leaves "
                            f"nothing certain there: only rank {dst} has the result")
                self.unsettled.append((tensor, Unawaited(sentence, one.origin)))

    def watch(self, operation: OpOverload, given: dict[str, Any]) -> None:
        name = operation._opname
        if name in SHAPES_ONLY:
            return
        if self.unsettled and name not in OVERWRITES:
            changed = [operation._schema.arguments[position] for position in written(operation)]
            # what stands under `out` is overwritten; anything else that an operator changes it reads, too
            for tensor in tensors_in([given[one.name] for one in changed if not one.kwarg_only and one.name in given]):
                self.demand_places(name, tensor)
                self.settle(tensor)
        super().watch(operation, given)

    def demand_places(self, name: str, tensor: torch.Tensor) -> None:
        """Raise Refused where data say which elements of such memory are written: nobody knows what is left of it."""
        fault = next((fault for place, fault in self.unsettled if touches(tensor, place)), None)
        if name.startswith(BY_INDEX) and fault is not None:
            raise Refused(f"{self.here().spoken} writes by index into what holds nothing certain ({fault}); "
                          "write it whole, or into a new tensor")

    def bring(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        places = list(writes)
        self.touch(reads, ())
        self.overwrite(places)
        super().bring((), places)

    def touch(self, reads: Iterable[torch.Tensor], writes: Iterable[torch.Tensor]) -> None:
        places = list(writes)
        super().touch(reads, places)
        self.overwrite(places)

    def overwrite(self, tensors: Sequence[torch.Tensor]) -> None:
        """What these tensors have is settled."""
        self.unsettled = [(part, fault) for place, fault in self.unsettled for part in rest_of(place, tensors)]


def rest_of(place: torch.Tensor, tensors: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """The parts of a tensor's memory, each without gaps, that none of these has."""
    over = [tensor for tensor in tensors if touches(tensor, place)]
    if not over:
        yield place
        return
    with _disable_current_modes():
        left = _bytes_of(place)
        for tensor in over:
            left &= ~_bytes_of(tensor)
        size = place.element_size()
        spans, counts = torch.unique_consecutive(left.reshape(-1, size).any(1), return_counts=True)
        start = 0
        for there, count in zip(spans.tolist(), counts.tolist(), strict=True):
            if there:
                yield place.detach().as_strided((count,), (1,), start)
            start += count


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """Which bytes of its storage a tensor has."""
    size, mine = tensor.element_size(), torch.zeros(tensor.untyped_storage().nbytes(), dtype=torch.bool)
    strides = (*(stride * size for stride in tensor.stride()), 1)
    mine.as_strided((*tensor.shape, size), strides, int(tensor.storage_offset()) * size).fill_(True)
    return mine
