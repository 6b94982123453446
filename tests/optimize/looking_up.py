"""Programs that look elements up at integers in data, for tests: on tensors that are drawn, and in modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

Program = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]
DTYPES = st.sampled_from([torch.int32, torch.int64])


def integers(draw: Any, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """In low … high − 1, some of them equal."""
    seed = draw(st.integers(0, 1000))
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def reals(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def embeddings(draw: Any) -> Program:
    rows, shape = draw(st.integers(1, 6)), draw(st.lists(st.integers(0, 3), max_size=3))
    return (lambda w, i: F.embedding(i, w, padding_idx=0)), (
        reals(rows, draw(st.integers(1, 4))), integers(draw, 0, rows, *shape, dtype=draw(DTYPES)))


@st.composite
def selections(draw: Any) -> Program:
    shape = draw(SIZES)
    dim, many = draw(st.integers(-len(shape), len(shape) - 1)), draw(st.lists(st.integers(0, 4), max_size=1))
    return (lambda x, i: x.index_select(dim, i)), (
        reals(*shape), integers(draw, 0, shape[dim], *many, dtype=draw(DTYPES)))


@st.composite
def gatherings(draw: Any) -> Program:
    shape = draw(SIZES)
    d = draw(st.integers(0, len(shape) - 1))
    own = [draw(st.integers(1, 4 if k == d else n)) for k, n in enumerate(shape)]
    return (lambda x, i: x.gather(d, i)), (reals(*shape), integers(draw, 0, shape[d], *own))


@st.composite
def brackets(draw: Any) -> Program:
    """One to three index tensors that broadcast, beside one another or not, negative ones too; positions among them."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    chosen = sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=3)))
    block = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    given, by_position = list[torch.Tensor](), draw(st.booleans()) and block[-1] <= shape[chosen[0]]
    for d in chosen[1:] if by_position else chosen:
        own = [n if draw(st.booleans()) else 1 for n in block[draw(st.integers(0, len(block) - 1)):]]
        given.append(integers(draw, -shape[d], shape[d], *own, dtype=draw(DTYPES)))

    def program(x: torch.Tensor, *indices: torch.Tensor) -> torch.Tensor:
        found, rest = [slice(None)] * x.dim(), iter(indices)
        for d in chosen:
            found[d] = torch.arange(block[-1]) if by_position and d == chosen[0] else next(rest)  # type: ignore[call-overload]
        return x[tuple(found)]

    return program, (reals(*shape), *given)


def experts(
    x: torch.Tensor, ids: torch.Tensor, share: torch.Tensor, w1: torch.Tensor, w3: torch.Tensor, w2: torch.Tensor
) -> torch.Tensor:
    """A mixture of experts: of each token's own, a gated layer."""
    gate, up = (torch.einsum("ti,taoi->tao", x, w[ids]) for w in (w1, w3))
    return torch.einsum("tai,ta->ti", torch.einsum("tao,taio->tai", F.silu(gate) * up, w2[ids]), share)


def paged(q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, blocks: torch.Tensor) -> torch.Tensor:
    """Attention to keys that lie in blocks, a list of which each sequence has."""
    k, v = (cache[blocks].flatten(1, 2).transpose(1, 2) for cache in (keys, values))
    return torch.einsum("bhs,bhsd->bhd", (torch.einsum("bhd,bhsd->bhs", q, k) / 2).softmax(-1), v)


def messages(x: torch.Tensor, weight: torch.Tensor, source: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x[source] * weight[:, None]) @ w


def words(ids: torch.Tensor, table: torch.Tensor, places: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.embedding(ids, table) + places[: ids.shape[1]], (places.shape[1],), scale)


def bags(ids: torch.Tensor, table: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.linear(F.embedding(ids, table).sum(1), w)


def loss(h: torch.Tensor, w: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return -(h @ w).log_softmax(-1).gather(1, wanted[:, None]).mean()


def loss_of_rows(h: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return -h.log_softmax(-1)[torch.arange(h.shape[0]), wanted]


def listed(table: torch.Tensor, lists: torch.Tensor, sequences: torch.Tensor) -> torch.Tensor:
    """An index that is looked up."""
    return table[lists[sequences]].exp()


def pairs(x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    return x[i, j] * 2


def of_few(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    """More is looked up than there is: functions of it are computed before."""
    return x.exp().index_select(0, i) + 1


def last(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Only a part of what is looked up is used."""
    return F.embedding(ids, table)[:, -1].tanh()


def routed(x: torch.Tensor, gate: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Experts that a call of torch chooses."""
    share, ids = torch.topk((x @ gate).softmax(-1), 2)
    return torch.einsum("ti,taoi,ta->to", x, w[ids], share)


def classes(ids: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Nothing is looked up, but what is no class is an error."""
    return F.one_hot(ids, 5).float() @ w


def entropy(h: torch.Tensor, w: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The second class counts for nothing."""
    return F.cross_entropy(h @ w, wanted, ignore_index=1)


def weighed_entropy(h: torch.Tensor, weight: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Of classes in the second dimension, each place by itself."""
    return F.cross_entropy(h, wanted, weight.exp(), reduction="none", label_smoothing=0.1)


def overlap(h: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """A class that is written into zeros, and into something else."""
    at = wanted[:, None]
    chosen = torch.zeros_like(h).scatter_(1, at, 1.0)
    return (h.softmax(1) * chosen).sum((0, 2)) + h.scatter(1, at, 2 * at.float()).sum()


def ints(high: int, *shape: int, low: int = 0) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(high))


PROGRAMS: dict[str, Program] = {
    "experts": (experts, (reals(2, 16), ints(4, 2, 2, low=-4), reals(2, 2), *(reals(4, n, m) for n, m in (
        (24, 16), (24, 16), (16, 24))))),
    "paged": (paged, (reals(2, 3, 8), reals(7, 4, 3, 8), reals(7, 4, 3, 8), ints(7, 2, 3))),
    "messages": (messages, (reals(9, 16), reals(20), ints(9, 20), reals(16, 24))),
    "words": (words, (ints(11, 2, 5), reals(11, 16), reals(8, 16), reals(16))),
    "bags": (bags, (ints(11, 3, 5), reals(11, 16), reals(24, 16))),
    "loss": (loss, (reals(9, 4), reals(4, 11), ints(11, 9))),
    "loss of rows": (loss_of_rows, (reals(9, 11), ints(11, 9))),
    "listed": (listed, (reals(9, 4), ints(9, 6), ints(6, 3, 2))),
    "pairs": (pairs, (reals(9, 4), ints(9, 6, low=-9), ints(4, 6).int())),
    "of few": (of_few, (reals(3, 5), ints(3, 40))),
    "routed": (routed, (reals(3, 16), reals(16, 5), reals(5, 24, 16))),
    "classes": (classes, (ints(5, 7, 3), reals(5, 16))),
    "entropy": (entropy, (reals(9, 4), reals(4, 11), ints(11, 9))),
    "weighed entropy": (weighed_entropy, (reals(3, 5, 19), reals(5), ints(5, 3, 19))),
    "overlap": (overlap, (reals(3, 5, 19), ints(5, 3, 19))),
    "last": (last, (ints(11, 3, 5), reals(11, 16))),
}


def module_of(function: Callable[..., Any]) -> nn.Module:
    """The function as a module that takes tensors by the same names."""
    names = ", ".join(inspect.signature(function).parameters)
    space: dict[str, Any] = {"nn": nn, "function": function}
    exec(f"class Of(nn.Module):\n    def forward(self, {names}):\n        return function({names})", space)
    made: nn.Module = space["Of"]()
    return made
