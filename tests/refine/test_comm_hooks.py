"""DistributedDataParallel with a communication hook of the program's own: what that does to a bucket is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from samesame.capture.ranks.record import capture_ranks
from samesame.capture.ranks.waiting import IN_HOOK
from samesame.evidence import Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text

Hook = Callable[[Any, Any], Any]


@pytest.fixture
def in_a_hook():
    """Callbacks are followed as they are in a communication hook."""
    token = IN_HOOK.set(True)
    yield
    IN_HOOK.reset(token)


class Fit(nn.Module):
    """A step of training; with a hook, in a wrapper."""

    def __init__(self, hook: Hook | None = None, state: Any = None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))
        self.called: list[Any] = [self.net]
        if hook is not None:
            wrapped = DistributedDataParallel(self.net)
            wrapped.register_comm_hook(state, hook)
            self.called = [wrapped]

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        (self.called[0](x) - y).square().mean().backward()
        with torch.no_grad():
            for weight in self.net.parameters():
                assert weight.grad is not None
                weight -= 0.1 * weight.grad
                weight.grad = None
        return torch.stack([weight.detach().square().sum() for weight in self.net.parameters()]).sum()


def in_double(state, bucket):
    wide = bucket.buffer().to(torch.float64) / dist.get_world_size()
    arriving = dist.all_reduce(wide, async_op=True).get_future()
    return arriving.then(lambda done: done.value()[0]).then(lambda done: done.value().to(bucket.buffer().dtype))


def not_divided(state, bucket):
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda done: done.value()[0])


def divided_by_its_callback(state, bucket):
    arriving = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return arriving.then(lambda done: done.value()[0].div_(2))


def gathered(state, bucket):
    own = bucket.buffer()
    parts = [torch.empty_like(own) for _ in range(2)]
    arriving = dist.all_gather(parts, own, async_op=True).get_future()
    return arriving.then(lambda done: torch.stack(done.value()).mean(0))


def gradient_by_gradient(state, bucket):
    for gradient in bucket.gradients():
        gradient.div_(state)
        dist.all_reduce(gradient)
    done: Any = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


@pytest.mark.parametrize("hook, state, verdict", [
    (in_double, None, "refines"),
    (allreduce_hook, None, "refines"),
    (divided_by_its_callback, None, "refines"),
    (gathered, None, "refines"),
    (gradient_by_gradient, 2, "refines"),
    (gradient_by_gradient, 3, "does not refine"),
    (not_divided, None, "does not refine"),
])
def test_what_a_hook_does_is_compared(hook: Hook, state: Any, verdict: str) -> None:
    found = refine(Fit, lambda rank, size: Fit(hook, state), (torch.randn(6, 3), torch.randn(6, 1)), world_size=2,
                   relations={"x": "shard(0)", "y": "shard(0)"})
    assert found.verdict == verdict, plain_text(found)


# ------------------------------------------------------------------------------------------------------------- futures


def summed_later(between: Callable[[torch.Tensor, torch.Tensor], None], callback: Callable[..., Any]) -> Any:
    """A program that does something between what a callback is given to and what it waits for, as a hook may."""

    def program(rank: int, size: int) -> Any:
        def forward(x: torch.Tensor) -> torch.Tensor:
            y, z = x * 1.0, x * 2.0
            coming = dist.all_reduce(y, async_op=True).get_future().then(lambda done: callback(done.value()[0], z))
            between(y, z)
            coming.wait()
            return z + y

        return forward

    return refine(lambda x: 2 * x + 2 * x, program, (torch.randn(3),), world_size=2)


def left_alone(y: torch.Tensor, z: torch.Tensor) -> None:
    """Nothing."""


def test_what_a_callback_makes_is_under_way_too(in_a_hook: None) -> None:
    made: list[torch.Tensor] = []
    found = summed_later(lambda y, z: made[0].sum(), lambda y, z: made.append(y / 2))
    assert found.verdict == "does not refine" and "reads" in found.stuck, plain_text(found)


@pytest.mark.parametrize("shared, verdict", [(True, "does not refine"), (False, "refines")])
def test_memory_that_hooks_of_several_buckets_share_is_under_way(shared: bool, verdict: str) -> None:
    def hook(scratch, bucket):
        own = bucket.buffer()
        halves = scratch[: own.numel()] if shared else torch.empty_like(own)
        halves.copy_(own)
        halves.div_(2)
        coming = dist.all_reduce(halves, async_op=True).get_future()
        return coming.then(lambda done: own.copy_(done.value()[0]))

    def fit(rank: int, size: int) -> Fit:
        made = Fit()
        wrapped = DistributedDataParallel(made.net, bucket_cap_mb=1e-5, find_unused_parameters=True)
        wrapped.register_comm_hook(torch.zeros(64), hook)
        made.called = [wrapped]
        return made

    found = refine(Fit, fit, (torch.randn(6, 3), torch.randn(6, 1)), world_size=2,
                   relations={"x": "shard(0)", "y": "shard(0)"})
    assert found.verdict == verdict, plain_text(found)


def test_what_hooks_have_begun_is_done_with_the_backward_pass() -> None:
    """The last bucket's hook waits itself; the next backward pass may use the same memory again."""
    class Twice(Fit):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return super().forward(x, y) + super().forward(x, y)

    def hook(scratch, bucket):
        own = bucket.buffer().div_(2)
        if bucket.is_last():
            dist.all_reduce(own)
            done: Any = torch.futures.Future()
            done.set_result(own)
            return done
        place = scratch[bucket.index()][: own.numel()]
        place.copy_(own)
        coming = dist.all_reduce(place, async_op=True).get_future()
        return coming.then(lambda done: own.copy_(done.value()[0]))

    def twice(rank: int, size: int) -> Fit:
        made = Twice()
        wrapped = DistributedDataParallel(made.net, bucket_cap_mb=1e-5, find_unused_parameters=True)
        wrapped.register_comm_hook([torch.zeros(64) for _ in range(8)], hook)
        made.called = [wrapped]
        return made

    found = refine(Twice, twice, (torch.randn(6, 3), torch.randn(6, 1)), world_size=2,
                   relations={"x": "shard(0)", "y": "shard(0)"})
    assert found.verdict != "does not refine", plain_text(found)


@pytest.mark.parametrize("between, callback, stuck", [
    (left_alone, lambda y, z: None, None),
    (lambda y, z: z.add_(0.0), lambda y, z: None, None),                         # nobody else touches z
    (lambda y, z: y.add_(1.0), lambda y, z: None, "writes into y"),
    (lambda y, z: z.add_(1.0), lambda y, z: y + z, "writes into z"),            # read by the callback, sooner or later
    (lambda y, z: z.sum(), lambda y, z: z.mul_(1.0), "reads z"),
    (lambda y, z: z.sum(), lambda y, z: y + z, None),                            # both only read
])
def test_what_a_callback_touches_is_under_way_until_somebody_waits(
    between: Any, callback: Any, stuck: Any, in_a_hook: None
) -> None:
    found = summed_later(between, callback)
    assert found.verdict == ("refines" if stuck is None else "does not refine"), plain_text(found)
    assert stuck is None or stuck in found.stuck


def asking_early(x: torch.Tensor) -> torch.Tensor:
    return dist.all_reduce(x + 1, async_op=True).get_future().value()[0]


def asking_whether(x: torch.Tensor) -> torch.Tensor:
    return x if dist.all_reduce(x + 1, async_op=True).get_future().done() else -x


def in_no_hook(x: torch.Tensor) -> torch.Tensor:
    return dist.all_reduce(x + 1, async_op=True).get_future().then(lambda done: done.value()[0] / 2).wait()


def again_in_a_callback(x: torch.Tensor) -> torch.Tensor:
    return dist.all_reduce(x + 1, async_op=True).get_future().then(lambda done: dist.all_reduce(x)).wait()


def waiting_for_the_sum_alone(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    coming = dist.all_reduce(y, async_op=True).get_future()
    coming.then(lambda done: done.value()[0].div_(2))
    coming.wait()
    return y


def changing_what_a_callback_knows(x: torch.Tensor) -> torch.Tensor:
    coming = []
    for k in range(3):
        sums = dist.all_reduce(x * 1.0, async_op=True).get_future()
        coming.append(sums.then(lambda done: done.value()[0] * k))              # noqa: B023    the last k, most likely
    return coming[1].wait()


@pytest.mark.parametrize("program, reason", [
    (asking_early, "before .wait"), (asking_whether, "before .wait"),
    (waiting_for_the_sum_alone, "not for a callback"), (changing_what_a_callback_knows, "changes a variable"),
    (again_in_a_callback, "in a callback of a future"),
])
def test_what_only_time_answers_is_refused(program: Callable[..., Any], reason: str, in_a_hook: None) -> None:
    with pytest.raises(Refused, match=reason):
        capture_ranks(lambda rank, size: program, (torch.randn(2),), 2)


def test_callbacks_are_followed_in_hooks_alone() -> None:
    with pytest.raises(Refused, match="in communication hooks alone"):
        capture_ranks(lambda rank, size: in_no_hook, (torch.randn(2),), 2)
