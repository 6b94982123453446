"""A drop-in returns results of the original's classes: named tuples, dataclasses, mappings, outputs of models."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import nn
from transformers.utils import ModelOutput

from samesame.capture import capture
from samesame.evidence import Refused
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import EAGER
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files
from samesame.programs.outputs import taken_apart


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@dataclass
class Scored:
    score: torch.Tensor
    more: Pair
    scale: float = 2.0


@dataclass
class Hidden(ModelOutput):
    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None
    states: tuple[torch.Tensor, ...] | None = None


@dataclass
class Changing:
    """What is made of its parts is another one."""

    first: torch.Tensor

    def __post_init__(self):
        self.first = self.first + 1


class Returning(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        return KINDS[self.kind](x)


KINDS = {
    "a result of torch's": lambda x: x.topk(2, dim=-1),
    "a named tuple": lambda x: {"pair": Pair(x + 1, x.argmax(-1))},
    "a dataclass": lambda x: Scored(x + 1, Pair(x, x - 1), 0.5),
    "a model's output": lambda x: Hidden(logits=x + 1, states=(x, x - 1)),
    "a mapping": lambda x: OrderedDict(b=x + 1, a=x.argmax(-1)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_of_the_originals_classes(tmp_path, kind):
    original, x = Returning(kind), torch.randn(3, 5)
    graph = capture(original, (x,))
    source = ("class Fast:\n    def __init__(self, weights): self.tensors = None\n"
              "    def __call__(self, x): return [y.clone() for y in self.tensors]\n")
    facts = facts_of(original, (x,), candidate := Candidate("returning", source), EAGER)
    file = write_files(tmp_path / "found", files_of(candidate, facts))
    found = [tensor for _, tensor in taken_apart(original(x), "it")[1]]
    assert len(found) == len(graph.roots)
    drop, alone = loaded(file).optimized(original), unguarded(original, file, {}, facts)
    for program, fast in ((drop, drop._instead.fast), (alone, alone.fast)):
        fast.tensors = found
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("error")
            answer, expected = program(x), original(x)
        assert type(answer) is type(expected) and repr(answer) == repr(expected)


def test_results_that_cannot_be_put_together_are_refused():
    def local(x):
        class Local(NamedTuple):
            x: torch.Tensor
        return Local(x)

    for program, why in ((local, "cannot be put together"), (lambda x: Changing(x), "another one"),
                         (lambda x: {1, 2}, "returns a set")):
        with pytest.raises(Refused, match=why):
            facts_of(program, (torch.ones(2),), Candidate("any", ""), EAGER)
    with pytest.raises(Refused, match="takes Pair"):
        facts_of(lambda pair: pair[0], (Pair(torch.ones(2), torch.ones(2)),), Candidate("any", ""), EAGER)
