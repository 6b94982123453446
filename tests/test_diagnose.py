"""Diagnosis: a planted error is told, the report leads to its line, and an edit is reported only if it rejoins all."""

from __future__ import annotations

import itertools
import time
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch
from torch.nn import functional as F

import opaque_operators  # noqa: F401    registers them
from models import build
from planted import FUSED, FUSED_LLAMA, IN_FUSED, IN_LLAMA, PLAIN, Planted, program
from samesame import check
from samesame.capture import capture
from samesame.diagnose import diagnose
from samesame.diagnose.repeated import repetitions
from samesame.evidence import Site, Verdict
from samesame.graph import Graph, Node, Origin, TensorType
from samesame.relate.draws import take_draws
from samesame.relate.prove import Prover
from samesame.relate.relating import input_relation, relate
from samesame.relate.sized import closed_values

FOLDER = Path(mkdtemp())
ERRORS = [("fused", error) for error in IN_FUSED] + [("llama", error) for error in IN_LLAMA]
# Errors that no single edit mends; the report says where the programs part, and no more.
WITHOUT_EDIT = {"heads in other groups"}  # a view and a transpose


@cache
def plain(layers):
    torch.manual_seed(0)
    return program(PLAIN, FOLDER / "plain.py").Model(layers)


@cache
def llama(layers):
    return build("llama", "eager", layers=layers)


def activations():
    draw = torch.Generator().manual_seed(1)
    angles = torch.randn(6, 2, generator=draw)
    return torch.randn(2, 6, 12, generator=draw), angles.cos(), angles.sin()


@cache
def verdict_on(example: str, error: Planted) -> Verdict:
    file = FOLDER / f"{example}_{error.name.replace(' ', '_')}.py"
    if example == "llama":
        model, inputs = llama(error.layers)
        return check(model, program(error.plant(FUSED_LLAMA), file).FusedLlama.from_transformers(model), inputs)
    model = plain(error.layers)
    return check(model, program(error.plant(FUSED), file).Model(model), activations())


def names_it(example: str, error: Planted, *sites: Site | None) -> bool:
    """Does one of the sites name the line of the error, or the line of the left that does it right?"""
    line = error.line(FUSED_LLAMA if example == "llama" else FUSED)
    return any(
        (site.side == "right" and site.origin.line == line and site.origin.file.startswith(str(FOLDER)))
        or (site.side == "left" and error.left in site.origin.code)
        for site in sites
        if site is not None
    )


def is_localised(example: str, error: Planted) -> bool:
    found = verdict_on(example, error).divergence
    return found is not None and names_it(example, error, found.left, found.right)


def is_mended(example: str, error: Planted) -> bool:
    edits = verdict_on(example, error).diagnosis
    return bool(edits) and names_it(example, error, edits[0].site, edits[0].counterpart)


@pytest.mark.parametrize("layers", [1, 2])
def test_without_an_error_they_are_the_same(layers):
    model = plain(layers)
    fused = program(FUSED, FOLDER / "fused.py").Model(model)
    assert check(model, fused, activations()).verdict == "same"


@pytest.mark.parametrize(("example", "error"), ERRORS, ids=[f"{e}: {error.name}" for e, error in ERRORS])
def test_a_planted_error_is_told_and_the_first_edit_names_it(example, error):
    verdict = verdict_on(example, error)
    assert verdict.verdict == "different"
    assert verdict.divergence is not None
    assert verdict.effect is not None and verdict.effect.max_error > 0
    assert bool(verdict.diagnosis) == (error.name not in WITHOUT_EDIT), "put right the list of those without an edit"


@pytest.mark.long
def test_most_errors_are_localised_and_mended():
    localised = [f"{e}: {error.name}" for e, error in ERRORS if not is_localised(e, error)]
    mended = [f"{e}: {error.name}" for e, error in ERRORS if not is_mended(e, error)]
    shares = [1 - len(missed) / len(ERRORS) for missed in (localised, mended)]
    print(f"{len(ERRORS)} errors: {shares[0]:.0%} localised, the first edit names {shares[1]:.0%}")
    assert shares[0] >= 0.9, localised
    assert shares[1] >= 0.8, mended


def test_an_error_in_one_layer_only_is_found_there():
    model = plain(2)
    module = program(FUSED, FOLDER / "one_layer.py")
    fused = module.Model(model)
    fused.layers[1].attention = lambda *given: 1.5 * module.Layer.attention(fused.layers[1], *given)
    found = check(model, fused, activations())
    assert found.divergence.right.origin.module == "layers.1"
    assert found.divergence.left.origin.module.startswith("layers.1")


# ------------------------------------------------------------------------------------------------------------- honesty


def test_an_edit_that_rejoins_on_the_example_only_is_not_reported():
    """3·x is x·x where x is 3, and with 2 for 3 where x is 2, but not elsewhere."""
    verdict = check(lambda x: F.silu(x * x), lambda x: F.silu(x * 3.0), (torch.full((4, 5), 2.0),))
    assert verdict.verdict == "different"
    assert [edit.description for edit in verdict.diagnosis if "takes 2" in edit.description] == []


def test_an_edit_that_mends_one_root_and_not_the_other_is_not_reported():
    def left(x):
        return F.silu(x) * 2.0, F.silu(x).exp() * 3.0

    verdict = check(left, lambda x: (F.silu(x) * 2.5, F.silu(x).exp() * 3.5), (torch.randn(4, 5),))
    assert verdict.verdict == "different"
    assert [edit for edit in verdict.diagnosis if "takes" in edit.description] == []


def test_an_edit_of_what_both_roots_read_is_reported():
    def left(x):
        shared = F.silu(x)
        return shared * 2.0, shared.exp()

    def right(x):
        shared = F.gelu(x)
        return shared * 2.0, shared.exp()

    verdict = check(left, right, (torch.randn(4, 5),))
    assert {edit.description for edit in verdict.diagnosis} == {"gelu becomes silu", "silu becomes gelu"}


def searched(left, right, inputs, deadline):
    graphs = capture(left, inputs, name="left"), capture(right, inputs, name="right")
    relation = input_relation(*graphs)
    taken, values = take_draws(graphs, relation.layouts, 0)
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    relating = relate(*graphs, relation, values, constants, Prover())
    started = time.monotonic()
    return diagnose(relating, values, taken, started + deadline), time.monotonic() - started


def test_a_search_ends_at_its_deadline_and_still_says_where_they_part(monkeypatch):
    """By a clock that goes on by a hundredth whenever somebody looks."""
    looks = itertools.count(0.0, 0.01)
    monkeypatch.setattr(time, "monotonic", lambda: next(looks))

    def deep(x, times):
        for _ in range(40):
            x = torch.sin(x * times) + torch.cos(x)
        return x

    inputs = (torch.randn(30, 40),)
    (divergence, edits), seconds = searched(lambda x: deep(x, 1.1), lambda x: deep(x.exp(), 1.3), inputs, 0.3)
    assert edits == []
    assert divergence.right.operator == "aten.exp.default"
    assert seconds < 2.0
    (divergence, edits), _ = searched(F.silu, F.gelu, inputs, -1.0)
    assert edits == [] and divergence is not None


# ----------------------------------------------------------------------------------------------------- edits and proofs


def edits_of(left, right):
    return check(left, right, (torch.randn(4, 6), torch.randn(6))).diagnosis


def norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def other_norm(x, weight, eps):
    return weight * (x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps))


def test_an_edited_program_that_is_proved_the_same_is_said_to_be():
    edits = edits_of(lambda x, w: norm(x, w, 1e-6), lambda x, w: other_norm(x, w, 1e-5))
    assert edits and {edit.verified for edit in edits} == {"proved"}


def test_a_machine_that_is_busy_otherwise_proves_edits_all_the_same(monkeypatch):
    """On which minutes pass between two looks at the clock."""
    minutes = itertools.count(0.0, 60.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(minutes))
    edits = edits_of(lambda x, w: norm(x, w, 1e-6), lambda x, w: other_norm(x, w, 1e-5))
    assert edits and {edit.verified for edit in edits} == {"proved"}


@pytest.mark.parametrize(("left", "right"), [(8**-0.5, 0.3), (0.3, None), (0.125, None)])
def test_another_scale_of_whole_attention_is_named(left, right):
    def by_hand(q, k, v):
        return (q @ k.transpose(-1, -2) / (1 / left)).softmax(-1) @ v

    def whole(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=right)

    edits = check(by_hand, whole, torch.randn(3, 2, 5, 8).unbind()).diagnosis
    assert any("scales its scores by" in edit.description and edit.verified == "proved" for edit in edits)


def test_an_edit_to_what_can_only_be_tested_stands_on_values():
    edits = edits_of(
        lambda x, w: torch.ops.planted.swish(norm(x, w, 1e-6)),
        lambda x, w: F.silu(other_norm(x, w, 1e-5)),
    )
    assert edits and {edit.verified for edit in edits} == {"values"}


def test_an_edit_that_takes_a_tensor_of_the_other_side_stands_on_values():
    edits = verdict_on("fused", next(error for error in IN_FUSED if error.name == "missing bias")).diagnosis
    assert {("adds" in edit.description, edit.verified) for edit in edits} >= {(True, "values")}


def test_an_edit_that_changes_shapes_on_the_way_can_be_proved():
    error = next(error for error in IN_FUSED if error.name == "mean over another axis")
    assert verdict_on("fused", error).diagnosis[0].verified == "proved"


def test_a_line_that_splits_into_other_numbers_of_pieces_is_another_place():
    def weighed(x, first):
        total = 0
        for part in (x, x[:2] + 1):
            pieces = part.split(1)
            total = total + pieces[first] * 2 + pieces[-1 - first]
        return total

    rows = (torch.randn(3, 5, generator=torch.Generator().manual_seed(0)),)
    verdict = check(lambda x: weighed(x, 0), lambda x: weighed(x, -1), rows)
    assert verdict.verdict == "different" and verdict.divergence is not None


def test_every_other_place_of_a_line_is_before_and_after_the_one_that_is_changed():
    kind, line = TensorType((2,), "float32"), Origin("norm.py", 7)
    x = Node("x", "input", type=kind)
    nodes = [Node(f"y{k}", "aten.rsqrt.default", (x,), {}, kind, line) for k in range(5)]
    for at, node in enumerate(nodes):
        *_, (_, words, places) = repetitions(node, Graph("left", (x, *nodes), (("0", nodes[-1]),), {}))
        others = [other for other in nodes[at % 2 :: 2] if other is not node]
        assert [*places] == others and words.endswith(f"{len(others) + 1} in all")
