"""Remembered: at the same inputs, two programs are recorded once in a run.

Which sizes vary is asked several times: with equal sizes of the example as one, then apart, then of the claims that
induction makes about rounds; and half of the sizes that one search runs at are sizes of another. A recording leaves the
programs as it found them, so the next one on equal inputs gives the same graphs, or is refused for the same reason.
What is remembered belongs to one run of a verb and ends with it: weights may be others in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from samesame.capture.sizes.family import Graphs, Recording
from samesame.evidence import SamesameError


class Remembered:
    """A recording, asked once for each example. `settings` says how programs are recorded now."""

    def __init__(self, record: Recording, settings: Callable[[], Hashable]) -> None:
        self.record, self.settings = record, settings
        self.known: dict[Hashable, Graphs | SamesameError | SystemExit] = {}
        self.kept: list[Any] = []                          # what keys know by its id, which stays its own so

    def __call__(self, example: Any) -> Graphs:
        key = self.settings(), self.said(example)
        if key not in self.known:
            try:
                self.known[key] = self.record(example)
            except (SamesameError, SystemExit) as refused:
                self.known[key] = without_frames(refused)
                raise
        found = self.known[key]
        if isinstance(found, tuple):
            return found
        raise without_frames(found)

    def said(self, example: Any) -> Hashable:
        """Inputs by what they are now: a tensor may hold other numbers the next time that it is given."""
        leaves, structure = tree_flatten(example)
        places = {id(leaf): place for place, leaf in reversed(list(enumerate(leaves)))}
        self.kept += (leaf for leaf in leaves if not isinstance(leaf, torch.Tensor))
        return repr(structure), tuple(
            (places[id(leaf)], contents(leaf)) if isinstance(leaf, torch.Tensor) else id(leaf) for leaf in leaves
        )


def without_frames(refused: SamesameError | SystemExit) -> SamesameError | SystemExit:
    """The same refusal, but for where it was raised: frames hold on to all of a recording's tensors."""
    if isinstance(refused, SystemExit):
        return SystemExit(refused.code)
    kind = type(refused)
    bare = kind.__new__(kind, *refused.args)               # some are made of other things than they say
    bare.__dict__.update(vars(refused))
    return bare


def contents(tensor: torch.Tensor) -> Hashable:
    """All of a tensor that a program may go by: equal for two that it cannot tell apart."""
    with torch.no_grad():
        told = tensor.detach().resolve_conj().resolve_neg().to("cpu").contiguous().reshape(-1).view(torch.uint8)
    kind = type(tensor), tensor.dtype, tensor.device, tensor.requires_grad, tensor.is_conj(), tensor.is_neg()
    return kind, tuple(tensor.shape), tensor.stride(), blake2b(told.numpy().data).digest()
