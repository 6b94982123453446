"""What cannot be a program is refused in a sentence, and what can be told of a file is told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

onnx = pytest.importorskip("onnx", reason="ONNX models need the extra onnx")
pytest.importorskip("onnxruntime", reason="ONNX models need the extra onnx")

from onnx_pairs import X, write  # noqa: E402

from samesame.capture import capture  # noqa: E402
from samesame.capture.onnx.table import ROWS, Application  # noqa: E402
from samesame.capture.targets import load_target  # noqa: E402
from samesame.cli import main  # noqa: E402
from samesame.evidence import Refused  # noqa: E402

RELU = "g (float[B,5,6] x) => (float[B,5,6] y) { y = Relu(x) }"


def refused(path: str) -> str:
    with pytest.raises(Refused) as told:
        load_target(path)
    said = str(told.value)
    assert "\n" not in said and Path(path).name in said
    return said


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert "does not exist" in refused(str(tmp_path / "none.onnx"))
    broken, empty = tmp_path / "broken.onnx", tmp_path / "empty.onnx"
    broken.write_bytes(b"\xff\xfe this is no model")
    empty.write_bytes(b"")
    assert "is no ONNX model" in refused(str(broken))
    assert "is no ONNX model" in refused(str(empty))
    whole = Path(write(RELU, tmp_path / "whole.onnx", {}))
    (tmp_path / "cut.onnx").write_bytes(whole.read_bytes()[:-9])
    assert "ONNX model" in refused(str(tmp_path / "cut.onnx"))


def test_a_version_that_nobody_knows(tmp_path: Path) -> None:
    model = onnx.load(write(RELU, tmp_path / "new.onnx", {}))
    for version in (7, 999):
        model.opset_import[0].version = version
        onnx.save(model, tmp_path / "new.onnx")
        assert f"opset {version}" in refused(str(tmp_path / "new.onnx"))


def test_data_that_are_not_beside_the_file(tmp_path: Path) -> None:
    text = "g (float[B,5,6] x) => (float[B,5,6] y) { y = Mul(x, w) }"
    path = write(text, tmp_path / "large.onnx", {"w": torch.ones(6)})
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="large.data", size_threshold=0)
    target = load_target(path)
    torch.testing.assert_close(target(X)["y"], X)
    (tmp_path / "large.data").write_bytes(b"")
    assert "large.onnx" in refused(path)
    (tmp_path / "large.data").unlink()
    assert "large.data" in refused(path)


@pytest.mark.parametrize("node, told", [
    ("n = SequenceConstruct(x) y = ConcatFromSequence<axis = 0>(n)", "sequences"),
    ("y = RandomNormalLike(x)", "random"),
    ("y = my.domain.Thing(x)", "the domain my.domain"),
    ("y = Relu(z)", "no valid ONNX model"),
    ("y = Softmax<axes = 3>(x)", "no valid ONNX model"),
])
def test_what_no_program_can_be_made_of(node: str, told: str, tmp_path: Path) -> None:
    text = f"g (float[B,5,6] x) => (float[B,5,6] y) {{ {node} }}"
    path = write(text, tmp_path / "odd.onnx", {})
    if "my.domain" in node:
        model = onnx.load(path)
        model.opset_import.append(onnx.helper.make_opsetid("my.domain", 1))
        onnx.save(model, path)
    assert told in refused(path)


LOOP = """g (float[B,5,6] x, bool c) => (float[B,5,6] y) {
    n = Constant<value_int = 3>()
    y = Loop(n, c, x)<body = b (int64 i, bool go, float[B,5,6] z) => (bool on, float[B,5,6] w)
        { on = Identity(go) w = Relu(z) }>
}"""
BRANCH = """g (float[B,5,6] x{more}) => (float[B,5,6] y) {{
    {how}
    y = If(c)<then_branch = t () => (float[B,5,6] a) {{ a = Relu(x) }},
              else_branch = e () => (float[B,5,6] b) {{ b = Neg(x) }}>
}}"""


def test_a_loop_is_refused_and_a_branch_that_is_known_is_taken(tmp_path: Path) -> None:
    assert "Loop, which is a loop" in refused(write(attributes_first(LOOP), tmp_path / "loop.onnx", {}))
    sized = ("s = Shape(x) k = Constant<value_int = 1>() n = Gather(s, k) "
             "five = Constant<value_int = 5>() c = Equal(n, five)")
    target = load_target(write(attributes_first(BRANCH.format(more="", how=sized)), tmp_path / "if.onnx", {}))
    assert {node.operator for node in capture(target, (X,)).nodes} == {"input", "aten.relu.default"}
    path = write(attributes_first(BRANCH.format(more=", bool c", how="")), tmp_path / "data.onnx", {})
    asks = r"data\.onnx:1 is If, which needs the values of a tensor to go on, so the graph depends on data"
    with pytest.raises(Refused, match=asks):
        capture(load_target(path), (X, torch.tensor(True)))


SCAN = """g (float[B,6] x, float[6] z) => (float[6] last, float[B,6] y) {{
    {before}last, y = Scan(z, x)<num_scan_inputs = 1, body = b (float[6] s, float[6] r) => (float[6] t, float[6] o)
        {{ t = Add(s, r) o = Identity(t) }}>
}}"""


@pytest.mark.parametrize("before, place", [("", 1), ("n = Neg(x) k = Constant<value_int = 3>() ", 3)])
def test_a_scan_is_refused_by_its_name_and_place(tmp_path: Path, before: str, place: int) -> None:
    path = write(attributes_first(SCAN.format(before=before)), tmp_path / "scan.onnx", {})
    assert refused(path).endswith(f"scan.onnx:{place} is Scan, which is a loop over the rows of a tensor; unroll it, "
                                  "and export that")


def attributes_first(text: str) -> str:
    """onnx's text form has attributes before arguments; here they are read better after them."""
    return re.sub(r"(Loop|If|Scan)(\([^)]*\))<(.*)>", r"\1<\3>\2", text, flags=re.S)


def test_inputs_that_do_not_fit(tmp_path: Path) -> None:
    target = load_target(write(RELU, tmp_path / "relu.onnx", {}))
    with pytest.raises(Refused, match="takes x as float32, and the inputs have float64"):
        capture(target, (X.double(),))
    with pytest.raises(Refused, match=r"in the shape \[any, 5, 6\] only, and not in \[2, 4, 6\]"):
        capture(target, (X[:, :4],))
    with pytest.raises(Refused, match="do not fit"):
        capture(target, ())


def test_a_row_that_is_wrong_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A false translation would make false proofs: what is recorded is held against ONNX Runtime."""

    def wrong(node: Application, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * 1.01

    target = load_target(write(RELU, tmp_path / "relu.onnx", {}))
    monkeypatch.setitem(ROWS, "Relu", wrong)
    with pytest.raises(Refused, match="does not compute what its graph computes"):
        capture(target, (X,))


def test_an_operator_without_a_row_runs_in_onnx_runtime(tmp_path: Path) -> None:
    path = write("g (float[B,6] x) => (float[B,6] y) { k = Constant<value_int = 1>() "
                 "y = CumSum<exclusive = 1>(x, k) }", tmp_path / "sum.onnx", {})
    graph = capture(load_target(path), (X[0],))
    node = next(node for node in graph.nodes if node.operator.startswith("onnx."))
    assert node.operator == "onnx.CumSum.default" and node.origin.line == 2
    assert node.origin.code == "y = CumSum(x, k, exclusive=1)"


def test_one_sentence_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["samesame", "check", "a.onnx", "a.onnx", "--inputs", "x.py:x"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "a.onnx is no ONNX model" in capsys.readouterr().err


def test_importing_samesame_does_not_import_onnx() -> None:
    code = "import samesame, samesame.capture.targets, sys; print([m for m in sys.modules if m.startswith('onnx')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
