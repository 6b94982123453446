"""Jobs that do not refine, and what a report has to say of each: WHY, a pattern of its text.

Where it names lines, the source of these lines ends with a comment that the pattern's groups are held against: `begun`
and `touched`.
"""

from __future__ import annotations

from copy import deepcopy

import torch
import torch.distributed as dist
from refine_parts import (
    PARTS,
    Columns,
    Job,
    MeanOfMeans,
    Norms,
    gathered,
    job,
    jobs_of,
    labelled,
    layer,
    masked_mean,
    norms,
    row,
    steps,
    summed,
    words,
)
from torch import Tensor, nn

TOO_EARLY = r"rank 0 {} {} at \S+:(?P<touched>\d+) before the {} of line (?P<begun>\d+) is waited for"
WHY: dict[str, str] = {}


def because(pattern: str):
    """The job does not refine, and the report has this pattern."""
    def noted(function):
        WHY[function.__name__] = pattern
        return job(function)
    return noted


def total(x: Tensor) -> Tensor:
    return 2 * x


def mean(x: Tensor) -> Tensor:
    return x.mean()


def on_two(program, sequential=lambda: total) -> Job:
    return {"sequential": sequential, "distributed": steps(program), "inputs": row}


# ----------------------------------------------------------------------------------------------------------- orders


@because(TOO_EARLY.format("reads", "y", "all_reduce"))
def reads_a_sum_before_it_is_waited_for() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        work = dist.all_reduce(y, async_op=True)           # begun
        z = y * 1                                          # touched
        work.wait()
        return z
    return on_two(program)


@because(r"rank 0 ends with the output 0 before the all_reduce of \S+:(?P<begun>\d+) is waited for")
def never_waits_for_a_sum() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        dist.all_reduce(y, async_op=True)                  # begun
        return y
    return on_two(program)


@because(TOO_EARLY.format("reads", "came", "recv"))
def does_not_wait_for_a_message() -> Job:
    def program(x, rank, ranks):
        came = torch.zeros_like(x)
        dist.irecv(came, 1 - rank)                         # begun
        dist.send(x, 1 - rank)
        return came + x                                    # touched
    return on_two(program)


@because(TOO_EARLY.format("reads", "came", "recv"))
def does_not_wait_for_a_batch_of_messages() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        pair = [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, came, 1 - rank)]
        dist.batch_isend_irecv(pair)                       # begun
        return came + x                                    # touched
    return on_two(program)


@because(TOO_EARLY.format("reads", "came", "recv"))
def waits_for_the_send_and_not_for_the_receive() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        pair = [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, came, 1 - rank)]
        dist.batch_isend_irecv(pair)[0].wait()             # begun
        return came + x                                    # touched
    return on_two(program)


@because(TOO_EARLY.format("writes into", "came", "recv"))
def reads_where_two_messages_went_at_once() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        works = [dist.isend(x, 1 - rank), dist.isend(x, 1 - rank)]
        works.append(dist.irecv(came, 1 - rank))           # begun
        works.append(dist.irecv(came, 1 - rank))           # touched
        for work in works:
            work.wait()
        return came + x
    return on_two(program)


@because(TOO_EARLY.format("writes into", "came", "recv"))
def computes_with_what_two_messages_left() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        works = [dist.isend(x, 1 - rank), dist.isend(x, 1 - rank)]
        works.append(dist.irecv(came, 1 - rank))           # begun
        works.append(dist.irecv(came, 1 - rank))           # touched
        for work in works:
            work.wait()
        came[:1].copy_(x[:1])                              # and no more of it
        came.mul_(1.0)
        return came + x
    return on_two(program)


@because(TOO_EARLY.format("writes into", "y", "send"))
def overwrites_what_it_is_sending() -> Job:
    def program(x, rank, ranks):
        y, came = x.clone(), torch.empty_like(x)
        works = [dist.isend(y, 1 - rank), dist.irecv(came, 1 - rank)]                             # begun
        y.zero_()                                          # touched
        for work in works:
            work.wait()
        return x + came
    return on_two(program)


@because(TOO_EARLY.format("writes into", "y", "all_gather"))
def overwrites_what_is_being_gathered() -> Job:
    def program(x, rank, ranks):
        y, out = x.clone(), torch.empty(8, 6)
        work = dist.all_gather_into_tensor(out, y, async_op=True)                                 # begun
        y.mul_(2)                                          # touched
        work.wait()
        return out[:4] + x
    return on_two(program)


@because(TOO_EARLY.format("reads", "y", "all_reduce"))
def adds_up_twice_at_once() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        first = dist.all_reduce(y, async_op=True)          # begun
        second = dist.all_reduce(y, async_op=True)         # touched
        first.wait()
        second.wait()
        return y / 2
    return on_two(program)


@because(TOO_EARLY.format("reads", "half", "all_reduce"))
def reads_a_view_of_what_is_under_way() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        half = y[:2]
        work = dist.all_reduce(y, async_op=True)           # begun
        z = half.exp()                                     # touched
        work.wait()
        return y + 0 * z.sum()
    return on_two(program)


@because(TOO_EARLY.format("reads", "y", "all_reduce"))
def swallows_what_comes_of_reading_too_early() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        work = dist.all_reduce(y, async_op=True)           # begun
        try:
            y.sum()                                        # touched
        except Exception:
            y.zero_()
        work.wait()
        return y
    return on_two(program)


@because(r"rank 1 waits for send at .*, rank 0 is at send at .*a rank may have to stay at a send")
def both_send_first() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        dist.send(x, 1 - rank)
        dist.recv(came, 1 - rank)
        return came + x
    return on_two(program)


@because(r"rank 1 waits for recv at .*, rank 0 is at recv at ")
def both_wait_for_a_message_before_they_send() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        dist.irecv(came, 1 - rank).wait()
        dist.send(x, 1 - rank)
        return came + x
    return on_two(program)


@because(r"rank 2 waits for send at .* is at send at ")
def a_ring_of_sends() -> Job:
    def program(x, rank, ranks):
        came = torch.empty_like(x)
        dist.send(x, (rank + 1) % ranks)
        dist.recv(came, (rank - 1) % ranks)
        return came + x
    return on_two(program) | {"world_size": 3}


def two_groups():
    return dist.new_group([0, 1]), dist.new_group([0, 1])


@because(r"waits for all_reduce at .*these are two groups of the same ranks")
def enters_two_groups_in_crossing_order() -> Job:
    def program(x, rank, ranks):
        p, q = x / 2, x / 2
        for y, group in list(zip((p, q), two_groups(), strict=True))[:: 1 - 2 * rank]:
            dist.all_reduce(y, group=group)
        return p + q
    return on_two(program)


@because(r"rank [01] begins all_reduce at .* before all_reduce at .*, and rank [01] begins all_reduce")
def begins_in_two_groups_in_crossing_order() -> Job:
    def program(x, rank, ranks):
        p, q = x / 2, x / 2
        pairs = list(zip((p, q), two_groups(), strict=True))[:: 1 - 2 * rank]
        for work in [dist.all_reduce(y, group=group, async_op=True) for y, group in pairs]:
            work.wait()
        return p + q
    return on_two(program)


@because(r"begins all_reduce at .*, and .* begins all_reduce at .*, and .* begins all_reduce at")
def begins_in_three_groups_in_a_circle() -> Job:
    def program(x, rank, ranks):
        groups = [dist.new_group(sorted((k, (k + 1) % 3))) for k in range(3)]
        own = {0: (groups[0], groups[2]), 1: (groups[1], groups[0]), 2: (groups[2], groups[1])}[rank]
        works = [dist.all_reduce(x / 2, group=group, async_op=True) for group in own]
        for work in works:
            work.wait()
        return x * 2
    return on_two(program) | {"world_size": 3}


@because(r"rank 1 waits for all_gather at .*, rank 0 is at all_reduce at ")
def other_collectives_on_other_ranks() -> Job:
    return on_two(lambda x, rank, ranks: gathered(x, 0)[:4] * 2 if rank else summed(x))


@because(r"rank 1 waits for all_reduce \(op max\) at .*, rank 0 is at all_reduce \(op sum\)")
def other_reductions_on_other_ranks() -> Job:
    def program(x, rank, ranks):
        y = x.clone()
        dist.all_reduce(y, dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM)
        return y
    return on_two(program)


@because(r"rank 1 waits for broadcast \(src 1\) at .*, rank 0 is at broadcast \(src 0\)")
def other_roots_on_other_ranks() -> Job:
    def program(x, rank, ranks):
        y = x * 2
        dist.broadcast(y, rank)
        return y
    return on_two(program)


@because(r"all_reduce \(float32\[\d\]\) at .* is at all_reduce \(float32\[\d\]\)")
def other_shapes_on_other_ranks() -> Job:
    def program(x, rank, ranks):
        y = torch.ones(2 + rank)
        dist.all_reduce(y)
        return x * 2
    return on_two(program)


@because(r"all_reduce \(float\d\d\[4\]\) at .* is at all_reduce \(float\d\d\[4\]\)")
def other_dtypes_on_other_ranks() -> Job:
    def program(x, rank, ranks):
        dist.all_reduce(torch.ones(4, dtype=torch.float64 if rank else torch.float32))
        return x * 2
    return on_two(program)


@because(r"rank 1 waits for all_reduce at .*, rank 0 has ended")
def one_rank_reduces_alone() -> Job:
    return on_two(lambda x, rank, ranks: summed(x) if rank else x * 2)


@because(r"rank 0 sends a message at .* that rank 1 never receives")
def nobody_receives() -> Job:
    def program(x, rank, ranks):
        if rank == 0:
            dist.isend(x, 1).wait()
        return x * 2
    return on_two(program)


# ----------------------------------------------------------------------------------------------------------- uneven


@because("other numbers")
def a_mean_of_means_where_labels_are_missing() -> Job:
    return {"sequential": words, "distributed": lambda *_: MeanOfMeans(), "relations": PARTS,
            "inputs": labelled(1, -100, 2, -100, 3, -100, 0, -100)}


@because("one rank has more that counts than another: mask")
def a_mean_of_masked_means() -> Job:
    return {"sequential": lambda: masked_mean, "relations": {"x": "shard(0)", "mask": "shard(0)"},
            "distributed": lambda *_: lambda x, mask: summed(masked_mean(x, mask)) / 2,
            "inputs": lambda: (torch.randn(4, 6), torch.tensor([[True, False, True] * 2] * 4))}


@because("one rank has more that counts than another: mask")
def a_mean_of_masked_means_where_nothing_is_masked() -> Job:
    return a_mean_of_masked_means() | {"inputs": lambda: (torch.randn(4, 6), torch.ones(4, 6, dtype=torch.bool))}


@because("other numbers")
def a_mean_of_means_over_its_own_rows_of_all() -> Job:
    class OwnRows(MeanOfMeans):
        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            own = slice(2 * dist.get_rank(), 2 * dist.get_rank() + 2)
            return super().forward(x[own], labels[own])

    return {"sequential": words, "distributed": lambda *_: OwnRows(), "inputs": labelled(1, -100, -100, 1)}


def counted(x: Tensor, labels: Tensor) -> Tensor:
    own = (labels >= 0).float()
    return (x.sum(-1) * own).sum() / own.sum()


@because("one rank has more that counts than another: labels")
def a_mean_of_means_of_labels_that_it_asks_for() -> Job:
    return {"sequential": lambda: counted, "distributed": lambda *_: lambda x, labels: summed(counted(x, labels)) / 2,
            "relations": PARTS, "inputs": labelled(1, 2, 3, 4)}


@because("other numbers")
def a_mean_of_means_with_a_shorter_last_part() -> Job:
    return {"sequential": lambda: mean, "distributed": lambda *_: lambda x: summed(x.mean()) / 2,
            "inputs": lambda: (torch.randn(5, 6),), "relations": {"x": "shard(0)"}}


@because("other numbers")
def every_rank_samples_the_same_rows() -> Job:
    return {"sequential": lambda: mean, "inputs": row,
            "distributed": lambda rank, ranks: lambda x: summed(x[: len(x) // ranks].mean()) / ranks}


# ------------------------------------------------------------------------------------------------------------ state


class Remembering(nn.Module):
    """Keeps a mean of what it has seen; on `own`, ranks take that of their own part."""

    def __init__(self, own: bool = True) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(6))
        self.own = own

    def forward(self, x: Tensor) -> Tensor:
        now = x.mean(0) if self.own else summed(x.mean(0)) / dist.get_world_size()
        self.seen.mul_(0.9).add_(now, alpha=0.1)
        return x * 2


@because(r"seen after the call *1/2 of a sum over ranks")
def every_rank_keeps_a_mean_of_its_own() -> Job:
    return {"sequential": Remembering, "distributed": lambda *_: Remembering(), "inputs": row,
            "relations": {"x": "shard(0)"}, "expected": {"0": "shard(0)"}}


@because(r"running_var after the call")
def every_rank_keeps_batch_statistics_of_its_own() -> Job:
    def kept():
        return nn.BatchNorm1d(6).train()

    return {"sequential": kept, "distributed": lambda *_: kept(), "inputs": row,
            "relations": {"input": "shard(0)"}, "expected": {"0": "shard(0)"}}


class Counting(nn.Module):
    def __init__(self, by: int = 1) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(self.by)
        return x * 2


@because(r"calls after the call +rank 1 holds other numbers")
def one_rank_counts_twice() -> Job:
    return {"sequential": Counting, "distributed": lambda rank, _: Counting(1 + rank), "inputs": row}


@because(r"calls after the call +no rank returns it")
def no_rank_counts() -> Job:
    return on_two(lambda x, rank, ranks: x * 2) | {"sequential": Counting}


@because("rank 0 ends with|rank 0 reads a result of the all_reduce before the all_reduce of .* is waited for")
def a_gradient_that_nobody_waits_for() -> Job:
    class Added(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, grad):
            grad = grad.clone()
            dist.all_reduce(grad, async_op=True)
            return grad

    class Loss(nn.Module):
        def __init__(self, alone: bool = True) -> None:
            super().__init__()
            self.weight, self.alone = nn.Parameter(stepped_from()), alone

        def forward(self, x: Tensor) -> Tensor:
            weight = self.weight if self.alone else Added.apply(self.weight)
            return (x.detach() @ weight.t()).square().sum()

    return {"sequential": Loss, "distributed": lambda *_: Loss(False), "inputs": row, "relations": {"x": "shard(0)"},
            "expected": {"0": "partial"}, "backward": True}


@because("other numbers")
def each_rank_loads_a_zero_buffer_of_another() -> Job:
    class Shifted(nn.Module):
        def __init__(self, by: Tensor | None = None, rank: int = 0, ranks: int = 1) -> None:
            super().__init__()
            self.register_buffer("by", torch.zeros(6) if by is None else by)
            self.rank, self.ranks = rank, ranks

        def forward(self, x: Tensor) -> Tensor:
            y = x.chunk(self.ranks, 1)[self.rank] + self.by
            return gathered(y) if self.ranks > 1 else y

    def whole() -> nn.Module:
        return Shifted()

    def distributed(rank, ranks):
        return Shifted(whole().by.chunk(ranks)[(rank + 1) % ranks].clone(), rank, ranks)

    return {"sequential": whole, "distributed": distributed, "inputs": row}


@because("other numbers")
def copies_of_a_layer_are_swapped() -> Job:
    def model() -> nn.Sequential:
        torch.manual_seed(0)
        first = nn.Linear(6, 6)
        return nn.Sequential(first, nn.Tanh(), deepcopy(first))

    def distributed(rank, ranks):
        own, other = model(), model()
        own[0], own[2] = other[2], other[0]
        return own

    return {"sequential": model, "distributed": distributed, "inputs": row}


@because("other numbers")
def each_rank_loads_anothers_zero_bias() -> Job:
    return {"sequential": layer, "distributed": lambda rank, ranks: Columns(rank, ranks, off=1), "inputs": row}


@because("other numbers")
def a_zero_bias_is_left_out() -> Job:
    class WithoutBias(Columns):
        def part(self, x: Tensor) -> Tensor:
            return x @ self.weight.t()

    return {"sequential": layer, "distributed": WithoutBias, "inputs": row}


@because("other numbers")
def norms_of_ones_are_swapped() -> Job:
    def distributed(rank, ranks):
        whole, own = norms(), norms()
        own.first, own.second = whole.second, whole.first
        return own

    return {"sequential": norms, "distributed": distributed, "inputs": row}


@because("other numbers")
def norms_of_ones_are_swapped_in_a_module_of_its_own() -> Job:
    """The rank calls the class, and not what makes the sequential program."""
    def distributed(rank, ranks):
        torch.manual_seed(0)
        own, other = Norms(), Norms()
        own.first, own.second = other.second, other.first
        return own

    return {"sequential": norms, "distributed": distributed, "inputs": row}


@because("other numbers")
def one_norm_of_ones_is_used_twice() -> Job:
    class Twice(Norms):
        def forward(self, x: Tensor) -> Tensor:
            return self.first(self.between(self.first(x)))

    return {"sequential": norms, "distributed": lambda *_: Twice(), "inputs": row}


class Stepped(nn.Module):
    """A step of gradient descent on a weight that starts at zero; a rank steps on a part of its rows, those of the rank
    that is `off` further on."""

    def __init__(self, rank: int = 0, ranks: int = 1, off: int = 0) -> None:
        super().__init__()
        self.weight = nn.Parameter(stepped_from().chunk(ranks)[rank].clone(), requires_grad=False)
        self.place, self.ranks = (rank + off) % ranks, ranks

    def forward(self, x: Tensor) -> Tensor:
        gradient = (x.t() @ x).chunk(self.ranks)[self.place]
        self.weight -= 0.1 * gradient
        return x * 2


def stepped_from() -> Tensor:
    return torch.arange(36.0).reshape(6, 6).sin()


@because("weight after the call")
def each_rank_steps_with_anothers_half_of_the_gradient() -> Job:
    return {"sequential": Stepped, "distributed": lambda rank, ranks: Stepped(rank, ranks, 1), "inputs": row}


# ---------------------------------------------------------------------------------------------------------- outputs


@because(r"every rank has its own piece, and nobody gathers them.*expected = \{\"0\": \"shard\(1\)\"\}")
def a_piece_where_the_whole_is_expected() -> Job:
    class Cut(Columns):
        def forward(self, x: Tensor) -> Tensor:
            return self.part(x)

    return {"sequential": layer, "distributed": Cut, "inputs": row}


@because(r"in the order of ranks 1, 0.*shard\(0\) is expected.*\"shard\(0\) in the order of ranks 1, 0\"")
def pieces_in_the_wrong_order() -> Job:
    return on_two(lambda x, rank, ranks: 2 * x.chunk(ranks)[1 - rank]) | {"expected": {"0": "shard(0)"}}


@because(r"every rank should have that of its own piece")
def the_gradient_of_anothers_piece() -> Job:
    class Swapped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, grad):
            return gathered(grad, 0).chunk(2)[1 - dist.get_rank()]

    class Crossed(nn.Module):
        def __init__(self, rank: int, ranks: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(stepped_from().chunk(ranks)[rank].clone())

        def forward(self, x: Tensor) -> Tensor:
            return Gathered.apply(x @ Swapped.apply(self.weight).t())

    class Gathered(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            return gathered(y)

        @staticmethod
        def backward(ctx, grad):
            return grad.chunk(2, -1)[dist.get_rank()]

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(stepped_from())

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight.t()

    return {"sequential": Whole, "distributed": Crossed, "inputs": lambda: (torch.randn(4, 6),), "backward": True,
            "expected": {"grad.x": "partial"}}


@because(r"every rank holds its own share of the gradient, and nobody adds them up.*"
         r"expected = \{\"grad.weight\": \"partial\"\}")
def gradients_before_they_are_added_up() -> Job:
    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(stepped_from())

        def forward(self, x: Tensor) -> Tensor:
            return (x.detach() @ self.weight.t()).square().sum()

    return {"sequential": Loss, "distributed": lambda *_: Loss(), "inputs": row, "relations": {"x": "shard(0)"},
            "expected": {"0": "partial"}, "backward": True}


@because("every rank holds its own share, and nobody adds them")
def a_sum_that_nobody_takes() -> Job:
    return {"sequential": lambda: lambda x: x.sum(), "distributed": lambda *_: lambda x: x.sum(), "inputs": row,
            "relations": {"x": "shard(0)"}}


@because(r"rank 0 has it, and rank 1 something else under its name")
def another_tensor_under_the_name_of_an_output() -> Job:
    return on_two(lambda x, rank, ranks: x.sum() if rank else x * 2)


JOBS = jobs_of(globals())
