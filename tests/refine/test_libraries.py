"""Libraries for distributed programs keep their groups in their modules, name a backend, and know GPUs only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from samesame.refine import refine

SOURCE = '''
import functools
import torch
import torch.distributed as dist

GROUP, RANK, TABLE, BUFFERS, SHIFT = None, None, {}, [], 0

def initialize(world_size):
    global GROUP, RANK
    if GROUP is None:
        GROUP, RANK = dist.new_group(list(range(world_size)), backend="gloo"), dist.get_rank()
        TABLE["model"] = GROUP
        BUFFERS.append(GROUP)

@functools.cache
def rank():
    return dist.get_rank()

def mine(weight, dim):
    return weight.chunk(TABLE["model"].size(), dim)[(rank() + SHIFT) % TABLE["model"].size()].detach().clone()

def summed(x):
    buffer = torch.empty(x.shape, device=torch.cuda.current_device())
    buffer.copy_(x)
    dist.all_reduce(buffer, group=TABLE["model"])
    return buffer
'''


@pytest.fixture
def library() -> Iterator[Any]:
    module = ModuleType("library_of_groups")
    exec(SOURCE, vars(module))
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


class Product(nn.Module):
    """A matrix of which each rank has some rows, by the library; `fault` leaves out the sum, or takes another's."""

    def __init__(self, library: Any, weight: torch.Tensor, fault: str = "") -> None:
        super().__init__()
        self.library, self.fault = library, fault
        library.SHIFT = int(fault == "another's")
        self.weight = nn.Parameter(library.mine(weight, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        here = torch.chunk(x, self.library.GROUP.size(), 1)[self.library.RANK] @ self.weight.t()
        return here if self.fault == "not summed" else self.library.summed(here)


def verdict(library: Any, fault: str = "", world_size: int = 2) -> str:
    weight = torch.randn(3, 4)

    def sequential() -> Product:
        library.initialize(1)
        return Product(library, weight)

    def distributed(rank: int, world_size: int) -> Product:
        library.initialize(world_size)
        return Product(library, weight, fault)

    return refine(sequential, distributed, (torch.randn(2, 4),), world_size=world_size).verdict


def test_each_rank_finds_the_library_as_it_was(library):
    assert verdict(library) == "refines"
    assert (library.GROUP, library.RANK, library.TABLE, library.BUFFERS) == (None, None, {}, [])
    assert not dist.is_initialized()


@pytest.mark.parametrize("fault", ["not summed", "another's"])
def test_faults_show(library, fault):
    assert verdict(library, fault) == "does not refine"
