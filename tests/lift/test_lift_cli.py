"""`samesame lift` prints the formula, what it needs and each obligation, and exits by the verdict."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_explain_shows_each_step_of_the_formula_with_its_line() -> None:
    code, output = run(target("softmax"), "--explain")
    assert code == 0
    titles = ["each lane stores", "masks resolved", "written by", "by the element", "by tensors' indices"]
    places = [output.index(title) for title in titles]
    assert places == sorted(places)
    assert "pid[i, j] = i, lane[i, j] = j" in output and "softmax.py:14" in output
    assert "if lane < N else −∞" in output.split("masks resolved")[0]
    assert "−∞" not in output.split("masks resolved")[1].split("\n")[0]


def test_explain_in_latex() -> None:
    code, output = run(target("vector_add"), "--explain", "--latex")
    assert code == 0 and "\\mathtt{out}^*" in output and "x_{i} + y_{i}" in output


def test_numerics_prints_one_error_for_each_dtype(tmp_path) -> None:
    file = tmp_path / "verdict.json"
    code, output = run(target("softmax"), "--numerics", "--json", str(file))
    assert code == 0
    (line,) = (line for line in output.splitlines() if line.strip().startswith("error"))
    errors = {m["dtype"]: m["error"] for m in json.loads(file.read_text())["numerics"]}
    assert list(errors) == ["float32", "float16", "bfloat16"] and all(dtype in line for dtype in errors)
    assert errors["float32"] < 1e-6 < errors["float16"] < 1e-2 and errors["float16"] < errors["bfloat16"] < 5e-2


def test_an_error_in_the_arithmetic_shows_in_the_numerics(tmp_path) -> None:
    """A kernel that rounds what it adds up to float16 has the same formula and a larger error."""
    kernel = tmp_path / "kernel.py"
    text = Path(target("softmax").partition(":")[0]).read_text().partition("\nBROKEN")[0]
    assert text.count("tl.exp(") == 1
    before = errors_of(target("softmax"), tmp_path / "before.json")
    line = next(line for line in text.splitlines() if "tl.exp(" in line)
    name = line.split("=")[0].strip()
    kernel.write_text(text.replace(line, f"{line}\n    {name} = {name}.to(tl.float16).to(tl.float32)"))
    after = errors_of(f"{kernel}:launch", tmp_path / "after.json")
    assert after > 100 * before


def errors_of(name: str, file) -> float:
    code, _ = run(name, "--numerics", "--json", str(file))
    assert code == 0
    return next(m["error"] for m in json.loads(file.read_text())["numerics"] if m["dtype"] == "float32")


def test_without_triton_one_sentence_says_so(monkeypatch) -> None:
    monkeypatch.setattr("samesame.lift.program.find_spec", lambda name: None)
    code, output = run(target("vector_add"))
    assert code == 2 and output.count("\n") == 1 and "needs Triton" in output
