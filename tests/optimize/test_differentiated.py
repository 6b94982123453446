"""A program that computes gradients is optimized like any other; what it returns records none."""

from __future__ import annotations

import warnings

import pytest
import torch
from pulled import COLUMNS, SQUARES, Learnt, Two, bent, by_hand, in_part_freed, inputs, learnt_by_hand, pulled, squared

from samesame import optimize
from samesame.check import check
from samesame.evidence import Refused
from samesame.optimize import attempt as attempts
from samesame.optimize.candidate import Candidate
from samesame.optimize.contract import contract
from samesame.optimize.dropin import BOTH, EAGER, FROZEN
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.job import Job, loaded
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.verb import called


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The file of what takes the place of the program, proved."""
    candidate = by_hand()
    facts = facts_of(pulled, inputs, candidate, EAGER, gradients=True)
    file = write_files(tmp_path_factory.mktemp("place") / "found", files_of(candidate, facts))
    assert check(pulled, unguarded(pulled, file, {}, facts), inputs).verdict == "same"
    return loaded(file)


def test_it_takes_the_place_where_gradients_are_on(found):
    program = found.optimized(pulled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = program(*inputs)
    torch.testing.assert_close(results, tuple(x.detach() for x in pulled(*inputs)))
    assert not any(x.requires_grad for x in results)
    off, fails = "it computes gradients, and these are off", "does not require grad"
    with pytest.warns(UserWarning, match=off), torch.no_grad(), pytest.raises(RuntimeError, match=fails):
        program(*inputs)
    with pytest.warns(UserWarning, match="other tensors have gradients than in the example"):
        program(inputs[0].clone().requires_grad_())


def test_its_rounding_is_measured_with_gradients_on(found):
    job = Job(pulled, inputs, {}, {}, gradients=True)
    assert contract(job, found.optimized(pulled), number=2).failed == ""


def test_what_can_be_differentiated_again_is_refused():
    with pytest.raises(Refused, match="output 0 can be differentiated once more"):
        called(bent, inputs)
    assert called(pulled, inputs)[1] and called(Learnt(), inputs)[1]


def test_weights_have_their_gradients(tmp_path):
    candidate, module = learnt_by_hand(), Learnt()
    facts = facts_of(module, inputs, candidate, EAGER, gradients=True)
    program = loaded(write_files(tmp_path / "found", files_of(candidate, facts))).optimized(module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss, slope = program(*inputs)
    torch.testing.assert_close((loss, slope), tuple(x.detach() for x in module(*inputs)))
    assert not loss.requires_grad and not slope.requires_grad
    module.scale.requires_grad_(False)
    with pytest.warns(UserWarning, match="other tensors have gradients"), pytest.raises(RuntimeError):
        program(*inputs)


@pytest.mark.parametrize("change, why", [
    (lambda module: module.sub.scale.register_hook(lambda slope: 9 * slope), "hooks see the gradients"),
    (lambda module: module.sub.register_full_backward_hook(lambda *_: None), "hooks see the gradients"),
    (lambda module: module.sub.scale.requires_grad_(False), "other tensors have gradients"),    # it reads none
])
def test_what_sees_gradients_or_freezes_weights_has_the_original_run(change, why, tmp_path):
    module, candidate = Two(), Candidate("columns", COLUMNS)
    facts = facts_of(module, inputs, candidate, EAGER, gradients=True)
    program = loaded(write_files(tmp_path / "found", files_of(candidate, facts))).optimized(module)
    torch.testing.assert_close(program(*inputs), module(*inputs))
    change(module)
    with pytest.warns(UserWarning, match=why):
        found = program(*inputs)
    torch.testing.assert_close(found, module(*inputs))


def test_inputs_that_are_made_of_one_another_have_the_original_run(tmp_path):
    x, y = (torch.randn(3, requires_grad=True) for _ in range(2))
    candidate = Candidate("squares", SQUARES)
    facts = facts_of(squared, (x, y), candidate, EAGER, gradients=True)
    program = loaded(write_files(tmp_path / "found", files_of(candidate, facts))).optimized(squared)
    torch.testing.assert_close(program(x, y), y.detach() ** 2)
    for other in (lambda: x, lambda: x * 2):
        with pytest.warns(UserWarning, match="made of one another"):
            torch.testing.assert_close(program(x, other()), squared(x, other()))
        program._instead.told.clear()
    with pytest.raises(Refused, match="made of one another"):
        facts_of(squared, (x, x * 2), candidate, EAGER, gradients=True)


def test_an_output_of_which_some_derivative_is_left_is_refused():
    with pytest.raises(Refused, match="output 0 can be differentiated once more"):
        called(in_part_freed, (torch.randn(3), torch.randn(3, requires_grad=True)))


@pytest.mark.long
def test_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(attempts.Attempt, "ways", (EAGER, FROZEN))
    found = optimize(pulled, inputs, minutes=1, threads=1, candidates=lambda *_: [by_hand()], out=tmp_path / "fast")
    ways = {row.name for row in found.report.rows}
    assert "eager torch" in ways and not any(way in name for way in (FROZEN, BOTH) for name in ways)
    assert found.report.verdict == "faster", found.report.notes
    torch.testing.assert_close(found.module(*inputs), tuple(x.detach() for x in pulled(*inputs)))
