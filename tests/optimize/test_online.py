"""Attentions in one pass: found among stages, proved for all sizes and tiles, printed, and refused when broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from tests.optimize.compiled_programs import compile_program
from tests.optimize.programs_as_forms import attention
from torch.nn import functional as F

from samesame.capture import capture
from samesame.formula.expr import exp
from samesame.optimize.ir import Local, Loop, Program, Rescaled, Statement, Store, bound
from samesame.optimize.native import Native, in_stages
from samesame.optimize.online import online, softmaxes
from samesame.optimize.partition import stages
from samesame.optimize.read import read
from samesame.optimize.space import Scheduled, Space


def one_pass() -> Scheduled:
    space = Space(attention(), stages(attention().outputs, attention().extents))
    (mean,) = softmaxes(space.stages)
    return online(space, mean)


def test_an_attention_in_one_pass_is_proved_for_all_tiles() -> None:
    checked = one_pass().proved()
    assert checked.proved and not checked.conditions, checked.reason


Body = tuple[Statement, ...]


def where_it_changes(body: Body, change: Callable[[Body, int], Body]) -> Body:
    """The block that holds the rescaling, changed; its place in it is given."""
    for k, statement in enumerate(body):
        if isinstance(statement, Rescaled):
            return change(body, k)
    return tuple(replace(s, body=where_it_changes(s.body, change)) if isinstance(s, Loop) else s for s in body)


def without_rescaling(body: Body, k: int) -> Body:
    return (*body[:k], *body[k].body, *body[k + 1 :])


def one_sum_left_out(body: Body, k: int) -> Body:
    return (*body[:k], replace(body[k], sums=body[k].sums[:1]), *body[k + 1 :])


def weights_of_before(body: Body, k: int) -> Body:
    """The weights are computed before the maximum changes, and used after."""
    return (*body[:k], *body[k + 1 : k + 3], body[k], *body[k + 3 :])


def weights_kept_in_change(body: Body, k: int) -> Body:
    return (*body[:k], body[k + 1], replace(body[k], body=(*body[k].body, body[k + 2])), *body[k + 3 :])


def weights_unscaled(body: Body, k: int) -> Body:
    def go(s: Statement) -> Statement:
        if isinstance(s, Store):
            shown = next(term for term in s.value.argument.terms if "shown" in repr(term))
            return replace(s, value=exp(shown))
        return replace(s, body=tuple(map(go, s.body))) if hasattr(s, "body") else s

    return (*body[: k + 2], go(body[k + 2]), *body[k + 3 :])


@pytest.mark.parametrize("change", [without_rescaling, one_sum_left_out, weights_of_before, weights_kept_in_change,
                                    weights_unscaled])
def test_a_wrong_pass_is_refused(change: Callable[[Body, int], Body]) -> None:
    scheduled = one_pass()
    (kernel,) = scheduled.program.kernels
    wrong = replace(kernel, body=where_it_changes(kernel.body, change))
    assert wrong.body != kernel.body
    assert not replace(scheduled, program=Program((wrong,))).proved().proved


def test_weights_of_an_earlier_tile_are_refused() -> None:
    """They would outlive the maximum that they were scaled by."""
    scheduled = one_pass()
    (kernel,) = scheduled.program.kernels
    kept: list[Statement] = []

    def go(body: Body) -> Body:
        left = tuple(s for s in body if not (isinstance(s, Local) and s.buffer.name.startswith("weights")))
        kept.extend(s for s in body if s not in left)
        inside = tuple(replace(s, body=go(s.body)) if hasattr(s, "body") else s for s in left)
        top = next((n for n, s in enumerate(inside) if isinstance(s, Local) and s.monoid == "max"), None)
        return inside if top is None else (*inside[: top + 1], *kept, *inside[top + 1 :])

    wrong = replace(scheduled, program=Program((replace(kernel, body=go(kernel.body)),)))
    assert kept and not wrong.proved().proved


def test_it_is_tried_where_rows_are_long() -> None:
    short, counts = attention(), Counter[str]()
    long = replace(short, extents={**short.extents, "j": 21 << 10}, tensors={
        name: replace(t, shape=(*t.shape[:2], 21 << 10, 16) if name != "q" else t.shape)
        for name, t in short.tensors.items()})
    tried = [Native.means(Space(each, stages(each.outputs, each.extents)), counts) for each in (short, long)]
    assert list(map(len, tried)) == [0, 1] and counts["online softmaxes of short rows"] == 1


def test_it_computes_what_torch_does_at_ragged_ends() -> None:
    """With a mask, and rows of which whole tiles of keys are hidden."""
    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    inputs = tuple(torch.randn(2, 37, 20) for _ in "qkv")
    specification = read(capture(attend, inputs))
    whole, _ = in_stages(specification, [root.form for root in specification.roots()])
    space = Space(whole, stages(whole.outputs, whole.extents))
    (mean,) = softmaxes(space.stages)
    scheduled = online(space, mean)
    assert scheduled.proved().proved
    numbers = dict(zip((tile.size.name for tile in scheduled.program.tiles), (3, 2, 5, 16), strict=True))
    program = bound(scheduled.program, {**space.numbers(), **numbers})
    found = compile_program(program, list(specification.tensors), [], [mean.mean.target])(*inputs)[0]
    torch.testing.assert_close(found.view(2, 37, 20), attend(*inputs), rtol=1e-4, atol=1e-4)
