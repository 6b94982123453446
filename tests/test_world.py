"""All ranks in one graph: collectives mean what torch says, in every spelling; ranks that do not meet are told."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as functional

from samesame.capture.ranks.record import capture_ranks
from samesame.capture.ranks.world import Mismatch, lockstep, world
from samesame.evidence import Refused
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute

OPS = {
    "sum": (dist.ReduceOp.SUM, lambda xs: torch.stack(xs).sum(0)),
    "avg": (dist.ReduceOp.AVG, lambda xs: torch.stack(xs).mean(0)),
    "product": (dist.ReduceOp.PRODUCT, lambda xs: torch.stack(xs).prod(0)),
    "max": (dist.ReduceOp.MAX, lambda xs: torch.stack(xs).amax(0)),
    "min": (dist.ReduceOp.MIN, lambda xs: torch.stack(xs).amin(0)),
}


def outcome(program, xs):
    """What each rank returns when rank k runs `program` on xs[k]: a list of outputs in order, for each rank."""
    graphs = capture_ranks(lambda rank, size: lambda x: program(x, rank, size), lambda rank, size: (xs[rank],), len(xs))
    together = world(graphs)
    values = execute(together, together.tensors)
    roots = [(name, values[node.name]) for name, node in together.roots]
    return [[value for name, value in roots if name.startswith(f"r{rank}.")] for rank in range(len(xs))]


def tensors(count, *shape):
    dice = torch.Generator().manual_seed(5)
    return [torch.randn(*shape, generator=dice) + 1 for _ in range(count)]


def agree(found, expected):
    """Each rank's outputs are these, in float64."""
    assert len(found) == len(expected)
    for outputs, wanted in zip(found, expected, strict=True):
        wanted = wanted if isinstance(wanted, list | tuple) else [wanted]
        for output, value in zip(outputs, wanted, strict=True):
            torch.testing.assert_close(output, value.double(), rtol=1e-12, atol=1e-12)


def doubled(xs):
    return [x.double() for x in xs]


# ------------------------------------------------------------------------------------------------- spelling by spelling


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_reduce(op, size):
    native, combined = OPS[op]

    def in_place(x, rank, size):
        y = x * 1
        dist.all_reduce(y, native)
        return y

    def pure(x, rank, size):
        return functional.all_reduce(x, op, dist.group.WORLD) * 1

    xs = tensors(size, 3, 2)
    for program in (in_place, pure):
        agree(outcome(program, xs), [combined(doubled(xs))] * size)


def parted(xs, sizes, dim=0):
    """For each rank the pieces of these sizes that all ranks give it."""
    return [[x.split(sizes, dim)[k] for x in xs] for k in range(len(xs))]


def everything(xs):
    return torch.cat(doubled(xs))


def gather_list(x, rank, size):
    outs = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(outs, x)
    return torch.cat(outs)


def gather_tensor(x, rank, size):
    out = torch.empty(size * x.shape[0], *x.shape[1:])
    dist.all_gather_into_tensor(out, x)
    return out


def gather_stacked(x, rank, size):
    out = torch.empty(size, *x.shape)
    dist.all_gather_into_tensor(out, x)
    return out.flatten(0, 1)


def gather_functional(x, rank, size):
    return functional.all_gather_tensor(x.t().contiguous(), 1, dist.group.WORLD).t() * 1


def gather_coalesced(x, rank, size):
    return functional.all_gather_into_tensor_coalesced([x], dist.group.WORLD)[0] * 1


GATHERS = [gather_list, gather_tensor, gather_stacked, gather_functional, gather_coalesced]


@pytest.mark.parametrize("program", GATHERS, ids=lambda f: f.__name__)
def test_all_gather(program):
    xs = tensors(3, 2, 4)
    agree(outcome(program, xs), [everything(xs)] * 3)


def test_numbers_are_gathered_as_rows():
    def program(x, rank, size):
        outs = [torch.empty(()) for _ in range(size)]
        dist.all_gather(outs, x.sum())
        return torch.stack(outs)

    xs = tensors(2, 3)
    agree(outcome(program, xs), [torch.stack([x.double().sum() for x in xs])] * 2)


def scatter_tensor(x, rank, size):
    out = torch.empty(x.shape[0] // size, *x.shape[1:])
    dist.reduce_scatter_tensor(out, x)
    return out


def scatter_list(x, rank, size):
    parts = list(x.chunk(size))
    out = torch.empty_like(parts[rank])
    dist.reduce_scatter(out, parts)
    return out


def scatter_functional(x, rank, size):
    return functional.reduce_scatter_tensor(x, "sum", 0, dist.group.WORLD) * 1


@pytest.mark.parametrize("program", [scatter_tensor, scatter_list, scatter_functional], ids=lambda f: f.__name__)
def test_reduce_scatter(program):
    xs = tensors(2, 4, 3)
    agree(outcome(program, xs), list(sum(doubled(xs)).chunk(2)))


@pytest.mark.parametrize("splits", [[[0, 1], [2, 3]], [[0, 1, 2], [3, 0, 1], [2, 2, 0]]], ids=["two", "three"])
def test_all_to_all_with_uneven_splits(splits):
    size = len(splits)
    xs = [torch.randn(sum(row), 2) for row in splits]
    takes = [[splits[giver][k] for giver in range(size)] for k in range(size)]

    def in_place(x, rank, size):
        out = torch.empty(sum(takes[rank]), 2)
        dist.all_to_all_single(out, x, takes[rank], splits[rank])
        return out

    def lists(x, rank, size):
        outs = [torch.empty(count, 2) for count in takes[rank]]
        dist.all_to_all(outs, list(x.split(splits[rank])))
        return torch.cat(outs)

    def pure(x, rank, size):
        return functional.all_to_all_single(x, takes[rank], splits[rank], dist.group.WORLD) * 1

    pieces = [x.double().split(row) for x, row in zip(xs, splits, strict=True)]
    expected = [torch.cat([pieces[giver][k] for giver in range(size)]) for k in range(size)]
    for program in (in_place, lists, pure):
        agree(outcome(program, xs), expected)


def test_broadcast_reduce_gather_and_scatter_have_a_root():
    def broadcast(x, rank, size):
        y = x * 1
        dist.broadcast(y, 1)
        return y

    def broadcast_functional(x, rank, size):
        return functional.broadcast(x, 1, dist.group.WORLD) * 1

    def reduce(x, rank, size):
        y = x * 1
        dist.reduce(y, 2)
        return y if rank == 2 else x * 1                   # elsewhere y is undefined

    def gather(x, rank, size):
        outs = [torch.zeros_like(x) for _ in range(size)] if rank == 0 else None
        dist.gather(x, outs, 0)
        return torch.cat(outs) if outs else x * 1

    def scatter(x, rank, size):
        out = torch.empty(1, 2)
        dist.scatter(out, list((x * 1).split(1)) if rank == 1 else None, 1)
        return out

    xs = tensors(3, 3, 2)
    ys = doubled(xs)
    agree(outcome(broadcast, xs), [ys[1]] * 3)
    agree(outcome(broadcast_functional, xs), [ys[1]] * 3)
    agree(outcome(reduce, xs), [ys[0], ys[1], sum(ys)])
    agree(outcome(gather, xs), [torch.cat(ys), ys[1], ys[2]])
    agree(outcome(scatter, xs), list(ys[1].split(1)))


def test_the_source_of_a_broadcast_is_a_rank_of_its_group():
    def program(x, rank, size):
        made = [dist.new_group(list(ranks)) for ranks in ((0, 1), (2, 3))]
        own = made[rank // 2]
        y = x * 1
        dist.broadcast(y, group=own, group_src=1)
        return y, functional.broadcast(x, 1, own) * 1

    xs = tensors(4, 2)
    ys = doubled(xs)
    agree(outcome(program, xs), [(ys[1], ys[1])] * 2 + [(ys[3], ys[3])] * 2)


def test_permute_passes_tensors_round():
    def program(x, rank, size):
        return functional.permute_tensor(x, [1, 2, 0], dist.group.WORLD) * 1

    xs = tensors(3, 2)
    agree(outcome(program, xs), [xs[2], xs[0], xs[1]])


def test_a_permute_without_a_source_gives_zeros():
    graphs = []
    for rank in range(2):
        type_ = TensorType((2,), "float32")
        x = Node("x", "input", type=type_)
        y = Node("y", "collective.permute", (x,), {"pairs": ((0, 1),), "group": (0, 1)}, type_)
        graphs.append(Graph(f"rank {rank}", (x, y), (("0", y),)))
    together = world(graphs)
    values = execute(together, {"r0.x": torch.ones(2), "r1.x": torch.ones(2) * 5})
    assert [values[node.name].tolist() for _, node in together.roots] == [[0, 0], [1, 1]]


def test_groups_by_rows_and_columns_of_a_mesh():
    def program(x, rank, size):
        rows, columns = [(0, 1), (2, 3)], [(0, 2), (1, 3)]
        made = {ranks: dist.new_group(list(ranks)) for ranks in (*rows, *columns)}
        across = next(made[ranks] for ranks in rows if rank in ranks)
        down = next(made[ranks] for ranks in columns if rank in ranks)
        y = functional.all_reduce(x, "sum", across) * 1
        return y, functional.all_reduce(y * x, "max", down) * 1

    xs = tensors(4, 3)
    ys = doubled(xs)
    sums = [ys[0] + ys[1]] * 2 + [ys[2] + ys[3]] * 2
    products = [y * s for y, s in zip(ys, sums, strict=True)]
    tops = [torch.maximum(products[0], products[2]), torch.maximum(products[1], products[3])] * 2
    agree(outcome(program, xs), list(zip(sums, tops, strict=True)))


def test_messages_arrive_in_order_whenever_they_are_asked_for():
    def program(x, rank, size):
        if rank == 0:
            dist.send(x, 1)
            dist.send(x * 2, 1)
            back = torch.empty_like(x)
            dist.recv(back, 1)
            return back
        first, second = torch.empty_like(x), torch.empty_like(x)
        waits = [dist.irecv(first, 0), dist.irecv(second, 0)]
        for work in waits:
            work.wait()
        dist.send(first - second, 0)
        return first, second

    xs = tensors(2, 3)
    agree(outcome(program, xs), [-xs[0], [xs[0], xs[0] * 2]])


def test_a_message_that_has_to_wait_keeps_its_place():
    """Rank 0 cannot send its first message before it has received; its second is not to overtake it."""

    def program(x, rank, size):
        if rank == 0:
            came = torch.empty_like(x)
            dist.irecv(came, 1).wait()
            dist.isend(came * 2, 1)
            dist.isend(x, 1)
            return came
        first, second = torch.empty_like(x), torch.empty_like(x)
        works = [dist.irecv(first, 0), dist.irecv(second, 0)]
        dist.isend(x, 0)
        for work in reversed(works):
            work.wait()
        return first, second

    xs = tensors(2, 3)
    agree(outcome(program, xs), [xs[1], [xs[1] * 2, xs[0]]])


def test_a_ring_may_ask_before_it_sends():
    def program(x, rank, size):
        came = torch.empty_like(x)
        calls = [dist.P2POp(dist.irecv, came, (rank - 1) % size), dist.P2POp(dist.isend, x, (rank + 1) % size)]
        for work in dist.batch_isend_irecv(calls):
            work.wait()
        return came + x

    xs = tensors(3, 2)
    agree(outcome(program, xs), [xs[2].double() + xs[0], xs[0].double() + xs[1], xs[1].double() + xs[2]])


# ----------------------------------------------------------------------------------------------- ranks that do not meet


def together(program, *shapes):
    xs = [torch.randn(*shape) for shape in shapes]
    graphs = capture_ranks(lambda rank, size: lambda x: program(x, rank), lambda rank, size: (xs[rank],), len(xs))
    return lockstep(graphs)


def line(function, offset):
    return f"tests/test_world.py:{function.__code__.co_firstlineno + offset}"


def test_different_collectives_of_one_group():
    def program(x, rank):
        if rank == 0:
            return functional.all_reduce(x, "sum", dist.group.WORLD) * 1
        return functional.all_gather_tensor(x, 0, dist.group.WORLD) * 1

    with pytest.raises(Mismatch) as caught:
        together(program, (2,), (2,))
    at_reduce, at_gather = line(program, 2), line(program, 3)
    assert str(caught.value) == f"rank 1 waits for all_gather at {at_gather}, rank 0 is at all_reduce at {at_reduce}"
    assert caught.value.ranks == (1, 0) and [o.line for o in caught.value.origins] == [
        program.__code__.co_firstlineno + 3, program.__code__.co_firstlineno + 2
    ]


def test_another_reduction():
    def program(x, rank):
        return functional.all_reduce(x, "max" if rank else "sum", dist.group.WORLD) * 1

    with pytest.raises(Mismatch, match=r"1 waits for all_reduce \(op max\) at .*, rank 0 is at all_reduce \(op sum\)"):
        together(program, (2,), (2,))


def test_shapes_that_do_not_fit():
    def program(x, rank):
        return functional.all_reduce(x, "sum", dist.group.WORLD) * 1

    with pytest.raises(Mismatch, match=r"all_reduce \(float32\[3\]\) at .*all_reduce \(float32\[2\]\)"):
        together(program, (2,), (3,))


def test_splits_that_do_not_fit():
    def program(x, rank):
        out = torch.empty(4)
        dist.all_to_all_single(out, x, [1, 3] if rank else [2, 2], [2, 2])
        return out

    with pytest.raises(Mismatch, match=r"all_to_all \(float32\[[13]\]\)"):
        together(program, (4,), (4,))


def test_gathered_parts_that_do_not_fit():
    def program(x, rank):
        outs = [torch.empty(2), torch.empty(2)] if rank == 0 else None
        dist.gather(x, outs, 0)
        return x * 1

    with pytest.raises(Mismatch, match=r"for gather \(float32\[2\]\) at .*, rank 1 is at gather \(float32\[3\]\)"):
        together(program, (2,), (3,))


def test_a_rank_that_ends_early():
    def program(x, rank):
        return x * 1 if rank == 0 else functional.all_reduce(x, "sum", dist.group.WORLD) * 1

    with pytest.raises(Mismatch, match=r"rank 1 waits for all_reduce at .*test_world.py:\d+, rank 0 has ended"):
        together(program, (2,), (2,))


def test_two_ranks_that_both_receive_first():
    def program(x, rank):
        came = torch.empty_like(x)
        dist.recv(came, 1 - rank)
        dist.send(x, 1 - rank)
        return came

    with pytest.raises(Mismatch, match=r"rank 1 waits for recv at .*, rank 0 is at recv at "):
        together(program, (2,), (2,))


def test_a_message_that_nobody_receives():
    def program(x, rank):
        if rank == 0:
            dist.send(x, 1)
        return x * 1

    with pytest.raises(Mismatch, match=r"rank 0 sends a message at .* that rank 1 never receives"):
        together(program, (2,), (2,))


def test_groups_in_different_order():
    def program(x, rank):
        all_, some = dist.group.WORLD, dist.new_group([0, 1])
        for group in (all_, some) if rank else (some, all_):
            x = functional.all_reduce(x, "sum", group) * 1 if rank < 2 or group is all_ else x
        return x

    with pytest.raises(Mismatch, match=r"waits for all_reduce .*is at all_reduce"):
        together(program, (2,), (2,), (2,))


def test_a_discarded_all_reduce_still_takes_place():
    def program(x, rank):
        dist.all_reduce(x.t().contiguous())
        return x * 1

    found = together(program, (2, 3), (2, 3))
    assert [m.operator for m in found.meetings] == ["collective.all_reduce"]
    assert not any("all_reduce" in node.name for _, root in found.graph.roots for node in root.inputs)


def test_means_of_integers_and_sums_of_booleans_are_refused():
    def program(x, rank):
        return functional.all_reduce((x > 0).long(), "avg", dist.group.WORLD) * 1

    with pytest.raises(Refused, match="mean of integers"):
        together(program, (2,), (2,))


def test_places_and_meetings_say_what_happened():
    def program(x, rank):
        return functional.all_reduce(x * 2, "sum", dist.group.WORLD) * 1

    found = together(program, (2,), (2,))
    (meeting,) = found.meetings
    assert meeting.group == (0, 1) and meeting.op == "sum"
    assert [node.name for node in meeting.given] == ["r0.mul", "r1.mul"]
    assert found.places[0]["all_reduce"] is found.places[1]["all_reduce"] is meeting.taken[1]
    assert meeting.taken[0].name == "r0.all_reduce" and meeting.origins[0].line == program.__code__.co_firstlineno + 1
