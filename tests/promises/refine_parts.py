"""What the jobs of refine_wrong.py and refine_right.py are made of. A job is a function that returns the arguments of
`refine`; JOBS of a module are its jobs by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

Job = dict[str, Any]
WORDS = 7


def jobs_of(module: dict[str, Any]) -> dict[str, Callable[[], Job]]:
    """The jobs that a module defines."""
    own = {name: thing for name, thing in module.items() if callable(thing) and not isinstance(thing, type)}
    return {name: thing for name, thing in own.items() if getattr(thing, "is_job", False)}


def job(function: Callable[[], Job]) -> Callable[[], Job]:
    function.is_job = True                                                                 # type: ignore[attr-defined]
    return function


def steps(program: Callable[[Tensor, int, int], Tensor]) -> Callable[[int, int], Any]:
    """A rank's program from a function of its input, its number and how many there are."""
    return lambda rank, ranks: lambda x: program(x, rank, ranks)


def summed(x: Tensor) -> Tensor:
    y = x.clone()
    dist.all_reduce(y)
    return y


def gathered(x: Tensor, dim: int = -1) -> Tensor:
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts, dim)


def row() -> tuple[Tensor]:
    return (torch.randn(4, 6),)


class Layer(nn.Module):
    """A layer whose bias starts at zero, as most do."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(6, 8)
        nn.init.zeros_(self.up.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)


def layer() -> nn.Module:
    torch.manual_seed(0)
    return Layer()


class Columns(nn.Module):
    """The layer cut over its outputs; its bias is the piece of the rank that is `off` further on."""

    def __init__(self, rank: int, ranks: int, off: int = 0) -> None:
        super().__init__()
        whole = layer().up
        self.weight = nn.Parameter(whole.weight.detach().chunk(ranks)[rank].clone())
        self.bias = nn.Parameter(whole.bias.detach().chunk(ranks)[(rank + off) % ranks].clone())

    def part(self, x: Tensor) -> Tensor:
        return x @ self.weight.t() + self.bias

    def forward(self, x: Tensor) -> Tensor:
        return gathered(self.part(x))


class Norms(nn.Module):
    """Two norms that hold the same numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.between = nn.LayerNorm(6), nn.LayerNorm(6), nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.between(self.first(x)))


def norms() -> nn.Module:
    torch.manual_seed(0)
    return Norms()


class Words(nn.Module):
    """The mean loss over all words that have a label."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, WORDS)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(self.head(x), labels)


def words() -> nn.Module:
    torch.manual_seed(0)
    return Words()


class MeanOfMeans(nn.Module):
    """Every rank's mean, and the mean of these."""

    def __init__(self) -> None:
        super().__init__()
        self.model = words()

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        return summed(self.model(x, labels)) / dist.get_world_size()


def labelled(*labels: int) -> Callable[[], tuple[Tensor, Tensor]]:
    return lambda: (torch.randn(len(labels), 6), torch.tensor(labels))


PARTS = {"x": "shard(0)", "labels": "shard(0)"}


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask).sum() / mask.sum()
