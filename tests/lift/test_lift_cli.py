"""`samesame lift` prints the formula, what it needs and each obligation, and exits by the verdict."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("triton")

from typer.testing import CliRunner

from kernel_corpus import broken_variants, target
from samesame.cli import app


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["lift", *arguments])
    return result.exit_code, result.output


def test_a_verified_kernel_exits_with_0_and_shows_its_formula(tmp_path) -> None:
    file = tmp_path / "verdict.json"
    add = target("vector_add")
    code, output = run(add, "--against", target("vector_add", "reference"), "--json", str(file))
    assert code == 0
    assert "out[i] = x[i] + y[i]" in output and "same" in output and "coverage   proved" in output
    verdict = json.loads(file.read_text())
    assert verdict["verdict"] == "verified" and verdict["against"] == "same" and verdict["name"] == "addition"
    assert {o["state"] for o in verdict["obligations"]} == {"proved"} and not verdict["unsupported"]
    assert {"formulas", "preconditions", "obligations"} <= set(verdict)


def test_a_broken_kernel_exits_with_1_and_says_where() -> None:
    (variant,) = (v for v in broken_variants() if str(v) == "vector_add-mask_le")
    code, output = run(variant.target)
    assert code == 1
    assert "bounds     violated" in output and "program [" in output and ".py:14" in output


def test_another_function_is_different(tmp_path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def reference(x, y):\n    return x - y\n")
    code, output = run(target("vector_add"), "--against", f"{other}:reference", "--latex")
    assert code == 1 and "different" in output and "x_{i} + y_{i}" in output


@pytest.mark.parametrize("wrong", ["missing.py:launch", "missing.ttir", "nothing"])
def test_what_cannot_be_lifted_exits_with_2_and_one_sentence(wrong: str) -> None:
    code, output = run(wrong)
    assert code == 2 and output.count("\n") == 1 and output.startswith("samesame: ")
