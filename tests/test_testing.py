"""`assert_same` passes for `same` on evidence that is strong enough, and for nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

import verdicts
from samesame import testing
from samesame.evidence import Rung


@pytest.fixture
def answer(monkeypatch):
    def put(verdict):
        monkeypatch.setattr(testing, "check", lambda left, right, inputs, **options: verdict)

    return put


def test_same_passes_and_returns_the_verdict(answer):
    answer(verdicts.same())
    assert testing.assert_same(None, None, ()).verdict == "same"


@pytest.mark.parametrize(
    "make, said",
    [(verdicts.different, "the two programs differ"), (verdicts.undecided, "undecided, which is no evidence")],
)
def test_anything_else_fails_with_the_report(answer, make, said):
    answer(make())
    with pytest.raises(AssertionError, match=said) as failed:
        testing.assert_same(None, None, ())
    assert f"\n{make().verdict}   " in str(failed.value)


def test_tested_passes_only_where_that_is_enough(answer):
    verdict = verdicts.same()
    verdict.evidence = Rung.TESTED
    answer(verdict)
    with pytest.raises(AssertionError, match="only tested where proved was asked"):
        testing.assert_same(None, None, ())
    assert testing.assert_same(None, None, (), at_least="tested") is verdict


def test_an_unknown_rung_is_refused_before_any_work(answer):
    with pytest.raises(ValueError, match="give one of 'proved for all sizes', 'proved', 'rounded', 'tested'"):
        testing.assert_same(None, None, (), at_least="certain")


def test_the_package_exports_functions_whatever_was_imported_first():
    code = "import samesame.check, samesame; from samesame import check, assert_same; "
    code += "assert samesame.check is check and check.__name__ == 'check' and callable(assert_same)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
