"""A program that computes gradients is optimized like any other; what it returns records none."""

from __future__ import annotations

import warnings

import pytest
import torch
from pulled import Learnt, bent, by_hand, inputs, learnt_by_hand, pulled

from samesame import optimize
from samesame.check import check
from samesame.evidence import Refused
from samesame.optimize import attempt as attempts
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


@pytest.mark.long
def test_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(attempts.Attempt, "ways", (EAGER, FROZEN))
    found = optimize(pulled, inputs, minutes=1, threads=1, candidates=lambda *_: [by_hand()], out=tmp_path / "fast")
    ways = {row.name for row in found.report.rows}
    assert "eager torch" in ways and not any(way in name for way in (FROZEN, BOTH) for name in ways)
    assert found.report.verdict == "faster", found.report.notes
    torch.testing.assert_close(found.module(*inputs), tuple(x.detach() for x in pulled(*inputs)))
