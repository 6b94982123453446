"""Jobs that refine, after public patterns; SAYS is what the headline has to name of those that stand on something that
their example fulfils and others need not."""

from __future__ import annotations

import torch
import torch.distributed as dist
from refine_parts import (
    PARTS,
    Columns,
    Job,
    MeanOfMeans,
    gathered,
    job,
    jobs_of,
    labelled,
    layer,
    norms,
    row,
    steps,
    summed,
    words,
)
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention, silu

SAYS: dict[str, str] = {}


def provided(pattern: str):
    """The job refines, and its headline has this pattern."""
    def noted(function):
        SAYS[function.__name__] = pattern
        return job(function)
    return noted


def total(x: Tensor) -> Tensor:
    return 2 * x


def on_two(program, sequential=lambda: total) -> Job:
    return {"sequential": sequential, "distributed": steps(program), "inputs": row}


# ----------------------------------------------------------------------------------------------------------- orders


@job
def computes_while_a_sum_is_under_way() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        work = dist.all_reduce(y, async_op=True)
        z = x.exp()
        work.wait()
        return y + z
    return on_two(program, lambda: lambda x: 2 * x + x.exp())


@job
def reads_another_part_of_a_buffer_that_is_under_way() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        work = dist.all_reduce(y[:2], async_op=True)
        below = y[2:] * 2
        work.wait()
        return torch.cat([y[:2], below])
    return on_two(program)


@job
def waits_by_a_future() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        dist.all_reduce(y, async_op=True).get_future().wait()
        return y
    return on_two(program)


@job
def a_functional_sum_waits_by_itself() -> Job:
    from torch.distributed import _functional_collectives as functional

    return on_two(lambda x, rank, ranks: functional.all_reduce(x, "sum", dist.group.WORLD) * 1)


@job
def exchanges_with_both_under_way() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        works = [dist.irecv(came, 1 - rank), dist.isend(x, 1 - rank)]
        for work in works:
            work.wait()
        return came + x
    return on_two(program)


@job
def exchanges_in_one_batch() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        pair = [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, came, 1 - rank)]
        for work in dist.batch_isend_irecv(pair):
            work.wait()
        return came + x
    return on_two(program)


@job
def nobody_reads_where_two_messages_went_at_once() -> Job:
    """As torch warms up a pipeline; what is written there afterwards is settled again."""
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        works = [dist.isend(x, 1 - rank) for _ in range(2)] + [dist.irecv(came, 1 - rank) for _ in range(2)]
        for work in works:
            work.wait()
        came[:1].copy_(x[:1])
        came[1:].copy_(x[1:])
        first = came + x
        works = [dist.isend(x, 1 - rank), dist.isend(x, 1 - rank)]
        works += [dist.irecv(came, 1 - rank), dist.irecv(came, 1 - rank)]
        for work in works:
            work.wait()
        dist.broadcast(came.copy_(x), 0)
        return first + came - x
    return on_two(program)


@job
def a_message_is_taken_in_another_shape() -> Job:
    def program(x, rank, ranks):
        came = torch.empty(24)
        works = [dist.irecv(came, 1 - rank), dist.isend(x, 1 - rank)]
        for work in works:
            work.wait()
        return came.view(4, 6) + x
    return on_two(program)


@job
def sums_that_are_waited_for_in_another_order() -> Job:
    def program(x, rank, ranks):
        first, second = x.clone(), x.clone()
        works = [dist.all_reduce(y, async_op=True) for y in (first, second)]
        works[1].wait()
        half = second / 2
        works[0].wait()
        return half + first / 2
    return on_two(program)


@job
def gradients_added_up_by_hooks() -> Job:
    class Loss(nn.Module):
        def __init__(self, alone: bool = True) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.arange(18.0).reshape(3, 6).sin())
            if not alone:
                self.weight.register_hook(summed)

        def forward(self, x: Tensor) -> Tensor:
            return (x.detach() @ self.weight.t()).square().sum()

    return {"sequential": Loss, "distributed": lambda *_: Loss(False), "inputs": row, "backward": True,
            "relations": {"x": "shard(0)"}, "expected": {"0": "partial"}}


@job
def one_sends_first_and_the_other_receives_first() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        for step in (dist.send, dist.recv) if rank == 0 else (dist.recv, dist.send):
            step(x if step is dist.send else came, 1 - rank)
        return came + x
    return on_two(program)


@job
def asks_for_a_message_and_then_sends() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        work = dist.irecv(came, 1 - rank)
        dist.send(x, 1 - rank)
        work.wait()
        return came + x
    return on_two(program)


@job
def enters_two_groups_in_one_order() -> Job:
    def program(x, rank, ranks):
        p, q = x / 2, x / 2
        groups = dist.new_group([0, 1]), dist.new_group([0, 1])
        for work in [dist.all_reduce(y, group=group, async_op=True) for y, group in zip((p, q), groups, strict=True)]:
            work.wait()
        return p + q
    return on_two(program)


@job
def a_sum_beside_messages_of_other_ranks() -> Job:
    """Rank 0 only begins its sum before it sends what rank 1 needs before it comes to the sum."""
    def program(x, rank, ranks):
        y, came = x.clone(), x.clone()
        if rank == 0:
            work = dist.all_reduce(y, async_op=True)
            dist.send(x, 1)
            work.wait()
        else:
            dist.recv(came, 0)
            dist.all_reduce(y)
        return y + 0 * came
    return on_two(program)


# ------------------------------------------------------------------------------------------------ megatron and its kin


class Gate(nn.Module):
    """A gated block without biases."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(6, 8, bias=False), nn.Linear(6, 8, bias=False), nn.Linear(8, 6)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(silu(self.gate(x)) * self.up(x))


def gate() -> nn.Module:
    torch.manual_seed(0)
    return Gate()


class Megatron(nn.Module):
    """Its columns and rows cut, the bias added once."""

    def __init__(self, rank: int, ranks: int) -> None:
        super().__init__()
        whole = gate()
        self.gate, self.up = (nn.Parameter(part.weight.detach().chunk(ranks)[rank].clone()) for part in
                              (whole.gate, whole.up))
        self.down = nn.Parameter(whole.down.weight.detach().chunk(ranks, 1)[rank].clone())
        self.bias = nn.Parameter(whole.down.bias.detach().clone())

    def inner(self, x: Tensor) -> Tensor:
        return (silu(x @ self.gate.t()) * (x @ self.up.t())) @ self.down.t()

    def forward(self, x: Tensor) -> Tensor:
        return x + summed(self.inner(x)) + self.bias


@job
def columns_and_rows() -> Job:
    return {"sequential": gate, "distributed": Megatron, "inputs": row}


@job
def columns_and_rows_on_four() -> Job:
    return columns_and_rows() | {"world_size": 4}


@provided("every rank has equally much of x")
def a_sequence_cut_between_blocks() -> Job:
    class Sequence(Megatron):
        def forward(self, x: Tensor) -> Tensor:
            parts = list(self.inner(gathered(x, 0)).chunk(dist.get_world_size()))
            y = torch.empty_like(x)
            dist.reduce_scatter(y, parts)
            return x + y + self.bias

    return {"sequential": gate, "distributed": Sequence, "inputs": row,
            "relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


@job
def a_layer_whose_bias_is_zero() -> Job:
    return {"sequential": layer, "distributed": Columns, "inputs": row}


@job
def a_piece_that_is_declared() -> Job:
    class Cut(Columns):
        def forward(self, x: Tensor) -> Tensor:
            return self.part(x)

    return {"sequential": layer, "distributed": Cut, "inputs": row, "expected": {"0": "shard(1)"}}


@job
def pieces_in_an_order_that_is_declared() -> Job:
    return on_two(lambda x, rank, ranks: 2 * x.chunk(ranks)[1 - rank]) | {
        "expected": {"0": "shard(0) in the order of ranks 1, 0"}}


@provided(r"if the pieces of up.bias are in rank order, which one number throughout hides \(")
def a_zero_bias_from_a_file() -> Job:
    """Numbers that were there before: what piece of its zeros a rank has, nothing tells."""
    saved = {name: tensor.clone() for name, tensor in layer().state_dict().items()}

    class Loaded(nn.Module):
        def __init__(self, rank: int = 0, ranks: int = 1) -> None:
            super().__init__()
            self.up = nn.Linear(6, 8 // ranks)
            self.up.load_state_dict({name.removeprefix("up."): tensor.chunk(ranks)[rank].clone()
                                     for name, tensor in saved.items()})
            self.ranks = ranks

        def forward(self, x: Tensor) -> Tensor:
            return gathered(self.up(x)) if self.ranks > 1 else self.up(x)

    return {"sequential": lambda: Loaded(), "distributed": lambda rank, ranks: Loaded(rank, ranks), "inputs": row}


@job
def zeros_that_every_rank_makes_itself() -> Job:
    """A cache of keys, a piece of it on each rank, that nobody loads."""
    class Cached(nn.Module):
        def __init__(self, rank: int = 0, ranks: int = 1) -> None:
            super().__init__()
            self.register_buffer("cache", torch.zeros(4, 6 // ranks))
            self.rank, self.ranks = rank, ranks

        def forward(self, x: Tensor) -> Tensor:
            y = self.cache + x.chunk(self.ranks, 1)[self.rank]
            self.cache.copy_(y)
            return gathered(y) if self.ranks > 1 else y * 1

    return {"sequential": lambda: Cached(), "distributed": lambda rank, ranks: Cached(rank, ranks), "inputs": row}


@job
def norms_of_ones_that_every_rank_makes_itself() -> Job:
    return {"sequential": norms, "distributed": lambda *_: norms(), "inputs": row}


@job
def words_cut_over_ranks() -> Job:
    """A vocabulary-parallel embedding: every rank looks up the words it has, zeros stand for the others."""
    def table() -> Tensor:
        return torch.arange(48.0).reshape(8, 6).sin()

    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(table())

        def forward(self, words: Tensor) -> Tensor:
            return self.weight[words]

    class Part(nn.Module):
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.weight, self.rank, self.own = nn.Parameter(table().chunk(ranks)[rank].clone()), rank, 8 // ranks

        def forward(self, words: Tensor) -> Tensor:
            mine = (words >= self.rank * self.own) & (words < (self.rank + 1) * self.own)
            found = self.weight[(words - self.rank * self.own).clamp(0, self.own - 1)]
            return summed(torch.where(mine.unsqueeze(-1), found, 0.0))

    return {"sequential": Table, "distributed": Part, "inputs": lambda: (torch.tensor([0, 3, 5, 7, 2]),)}


# --------------------------------------------------------------------------------------------------- data and context


@provided(r"if every rank has equally much of x, labels and no element of labels is -100")
def a_mean_of_means_of_full_labels() -> Job:
    return {"sequential": words, "distributed": lambda *_: MeanOfMeans(), "relations": PARTS,
            "inputs": labelled(1, 2, 6, 0)}


@provided(r"if no element of labels is -100 \(")
def a_mean_of_means_over_its_own_rows_of_all() -> Job:
    class OwnRows(MeanOfMeans):
        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            own = slice(2 * dist.get_rank(), 2 * dist.get_rank() + 2)
            return super().forward(x[own], labels[own])

    return {"sequential": words, "distributed": lambda *_: OwnRows(), "inputs": labelled(1, 2, 6, 0)}


@job
def a_mean_over_all_labels_that_there_are() -> Job:
    """Sums of losses and of labels are added up over ranks, and divided once."""
    class Mean(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = words()

        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            loss = cross_entropy(self.model.head(x), labels, reduction="sum")
            return summed(loss) / summed((labels != -100).sum().float())

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = words()

        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            loss = cross_entropy(self.model.head(x), labels, reduction="sum")
            return loss / (labels != -100).sum().float()

    return {"sequential": Whole, "distributed": lambda *_: Mean(), "relations": PARTS,
            "inputs": labelled(1, -100, 6, 0)}


@provided(r"if every rank has equally much of x \(")
def gradients_averaged_by_hand() -> Job:
    class Averaged(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, grad):
            return summed(grad) / dist.get_world_size()

    class Model(nn.Module):
        def __init__(self, alone: bool = True) -> None:
            super().__init__()
            self.weight, self.alone = nn.Parameter(torch.arange(18.0).reshape(3, 6).sin()), alone

        def forward(self, x: Tensor) -> Tensor:
            weight = self.weight if self.alone else Averaged.apply(self.weight)
            return (x.detach() @ weight.t()).square().mean()

    return {"sequential": Model, "distributed": lambda *_: Model(False), "inputs": row, "backward": True,
            "relations": {"x": "shard(0)"}, "expected": {"0": "partial(avg)"}}


@provided(r"if every rank has equally much of x \(")
def statistics_of_the_whole_batch() -> Job:
    """A running mean that the ranks agree on, as synchronised batch normalisation keeps it."""
    class Remembering(nn.Module):
        def __init__(self, alone: bool = True) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(6))
            self.alone = alone

        def forward(self, x: Tensor) -> Tensor:
            now = x.mean(0) if self.alone else summed(x.mean(0)) / dist.get_world_size()
            self.seen.mul_(0.9).add_(now, alpha=0.1)
            return x - now

    return {"sequential": Remembering, "distributed": lambda *_: Remembering(False), "inputs": row,
            "relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


class Stepped(nn.Module):
    """A step of gradient descent on the rank's own rows of a weight."""

    def __init__(self, rank: int = 0, ranks: int = 1) -> None:
        super().__init__()
        weight = torch.arange(36.0).reshape(6, 6).sin().chunk(ranks)[rank].clone()
        self.weight, self.rank, self.ranks = nn.Parameter(weight, requires_grad=False), rank, ranks

    def forward(self, x: Tensor) -> Tensor:
        self.weight -= 0.1 * (x.t() @ x).chunk(self.ranks)[self.rank]
        return x * 2


@job
def an_optimizer_cut_over_ranks() -> Job:
    return {"sequential": Stepped, "distributed": Stepped, "inputs": row}


@job
def weights_gathered_when_they_are_needed() -> Job:
    """Fully sharded: each rank keeps its rows of a weight."""
    class Gathering(Stepped):
        def forward(self, x: Tensor) -> Tensor:
            return gelu(x @ (gathered(self.weight, 0) if self.ranks > 1 else self.weight).t())

    return {"sequential": Gathering, "distributed": Gathering, "inputs": row}


def attention(x: Tensor) -> Tensor:
    heads = x.reshape(4, 2, 3).transpose(0, 1)
    return scaled_dot_product_attention(heads, heads, heads).transpose(0, 1).reshape(4, 6)


@job
def heads_for_rows_and_back() -> Job:
    """Ulysses: all rows of a rank's own heads, by an all-to-all there and one back."""
    def program(x, rank, ranks):
        there = x.reshape(-1, ranks, 3).transpose(0, 1).contiguous()
        own = torch.empty_like(there)
        dist.all_to_all_single(own, there)
        own = own.reshape(-1, 3)
        seen = scaled_dot_product_attention(own[None], own[None], own[None])[0]
        back, home = seen.reshape(ranks, -1, 3).contiguous(), torch.empty(ranks, 4 // ranks, 3)
        dist.all_to_all_single(home, back)
        return home.transpose(0, 1).reshape(-1, 6)

    return on_two(program, lambda: attention) | {"relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


@job
def parts_passed_round_a_ring() -> Job:
    """Each rank sees every part of the rows, one after another, while the next one is on its way."""
    def program(x, rank, ranks):
        here, total = x, torch.zeros_like(x)
        for step in range(ranks):
            coming = torch.empty_like(here)
            to, of = (rank + 1) % ranks, (rank - 1) % ranks
            pair = [dist.P2POp(dist.isend, here, to), dist.P2POp(dist.irecv, coming, of)]
            works = dist.batch_isend_irecv(pair) if step < ranks - 1 else []
            total = total + (x @ here.t()).relu() @ here
            for work in works:
                work.wait()
            here = coming
        return total

    return on_two(program, lambda: lambda x: (x @ x.t()).relu() @ x) | {
        "relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


@job
def stages_that_wait_for_their_messages() -> Job:
    """A pipeline: the next part is sent while the last one is still under way."""
    def program(x, rank, ranks):
        parts = x.chunk(2)
        if rank == 0:
            sent = [part.sin() for part in parts]
            for work in [dist.isend(y, 1) for y in sent]:
                work.wait()
            return None
        came = [torch.empty_like(part) for part in parts]
        works = [dist.irecv(y, 0) for y in came]
        return torch.cat([y.cos() for y, work in zip(came, works, strict=True) if work.wait()])

    return on_two(program, lambda: lambda x: x.sin().cos())


@job
def experts_of_their_own_ranks() -> Job:
    """Every rank has one expert; tokens go to it and come back, a fixed number from each rank."""
    def weights() -> Tensor:
        return torch.arange(72.0).reshape(2, 6, 6).sin()

    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(weights())

        def forward(self, x: Tensor) -> Tensor:
            return torch.cat([x[:2:2] @ self.weight[0], x[1:2] @ self.weight[1],
                              x[2::2] @ self.weight[0], x[3:] @ self.weight[1]])

    class Expert(nn.Module):
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(weights()[rank].clone())

        def forward(self, x: Tensor) -> Tensor:
            there, back = torch.empty_like(x), torch.empty_like(x)
            dist.all_to_all_single(there, x)
            dist.all_to_all_single(back, there @ self.weight)
            return back

    return {"sequential": Experts, "distributed": Expert, "inputs": row,
            "relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


@job
def a_gradient_whose_share_is_declared() -> Job:
    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.arange(18.0).reshape(3, 6).sin())

        def forward(self, x: Tensor) -> Tensor:
            return (x.detach() @ self.weight.t()).square().sum()

    return {"sequential": Loss, "distributed": lambda *_: Loss(), "inputs": row, "backward": True,
            "relations": {"x": "shard(0)"}, "expected": {"0": "partial", "grad.weight": "partial"}}


JOBS = jobs_of(globals())
