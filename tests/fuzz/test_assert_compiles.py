"""`assert_compiles`: a module is compiled rightly, or the test says how not."""

from __future__ import annotations

import pytest
import torch

from samesame import assert_compiles
from samesame.evidence import SamesameError
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.backends.backend import Backend

MODULE = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Softmax(-1)).eval()
INPUTS = (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)


def test_a_module_and_its_twins_are_compiled_rightly():
    found = assert_compiles(MODULE, INPUTS, "aot_eager", twins=3)
    assert found.verdict == "compiled rightly" and found.twins == 3 and found.rewrites


class Split(torch.nn.Module):
    def forward(self, x):
        left, right = torch.split(torch.square(x), 2, dim=1)
        return torch.relu(right) + left


def test_operators_with_several_results_have_twins():
    found = assert_compiles(Split(), INPUTS, "eager", twins=4)
    assert found.twins == 4 and found.silent == 0


def test_a_compiler_that_is_wrong_fails_the_test(monkeypatch):
    text = "compiled = lambda *given: tuple(y + 1 for y in program(*given))"
    monkeypatch.setitem(BACKENDS, "planted", Backend("planted", "planted", text))
    with pytest.raises(AssertionError, match="not compiled rightly by planted: wrong value output 0"):
        assert_compiles(MODULE, INPUTS, "planted")


def test_what_says_nothing_fails_the_test_too():
    with pytest.raises(AssertionError, match="undecided by aot_eager: unsteady eager torch gives another"):
        assert_compiles(torch.nn.Dropout(), INPUTS, "aot_eager")


def test_bad_input_is_one_sentence():
    with pytest.raises(SamesameError, match="Linear does not run on these inputs: RuntimeError"):
        assert_compiles(torch.nn.Linear(5, 5), INPUTS)
    with pytest.raises(SamesameError, match="there is no back end nonesuch"):
        assert_compiles(MODULE, INPUTS, "nonesuch")
