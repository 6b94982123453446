"""What a user reads: formulas name what they speak of, and what went wrong is a sentence about the user's own line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

from typer.testing import CliRunner

from kernel_corpus import broken_variants, target
from samesame.cli import app

KERNELS = '''
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside) + tl.load(y_ptr + i, mask=inside), mask=inside)


@triton.jit
def asm_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + i, y, mask=i < n)


def tensors(n):
    return torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
'''


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["lift", *arguments])
    return result.exit_code, result.output


def launching(folder: Path, body: str, before: str = "") -> str:
    """A file whose launch function has this body; its `# HERE` marks the line that is to be named."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    file = folder / "kernels.py"
    file.write_text(f"{KERNELS}{before}\n\ndef launch(n=1000):\n{lines}")
    return f"{file}:launch"


def line_of(name: str) -> int:
    text = Path(name.removesuffix(":launch")).read_text().splitlines()
    return next(k for k, line in enumerate(text, 1) if "# HERE" in line)


def test_a_formula_and_its_condition_call_programs_and_lanes_by_one_name() -> None:
    (variant,) = (v for v in broken_variants() if str(v) == "softmax-mask_le")
    code, output = run(variant.target)
    formula = output.splitlines()[1]
    assert code == 1
    assert "out*[N·pid + lane] = " in formula and formula.endswith("where lane ≤ N")


def test_a_sentence_about_what_is_not_supported_stands_apart_from_its_title(tmp_path) -> None:
    name = launching(tmp_path, "x, y = tensors(n)\nasm_kernel[(8,)](x, y, n, BLOCK=128)\nreturn y")
    code, output = run(name)
    assert code == 3 and f"unsupported {tmp_path}" in output
    code, output = run(name, "--quiet")
    assert "asm_kernel: undecided, " in output and "inline assembly has no meaning here" in output


def test_one_line_says_what_is_violated() -> None:
    (variant,) = (v for v in broken_variants() if str(v) == "vector_add-mask_le")
    code, output = run(variant.target, "--quiet")
    assert code == 1 and output == "add_kernel: violated, bounds\n"
    code, output = run(variant.target)
    assert "n = 1000: load of x at offset 1000, of 1000 elements; program [15]; lane [40]; line " in output
    assert "seen in Triton's interpreter too" in output


def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path) -> None:
    code, output = run(target("vector_add"), "--json", str(tmp_path / "no" / "verdict.json"))
    assert code == 2 and output.count("\n") == 1 and output.startswith("samesame: cannot write")


def test_the_json_is_json_whatever_the_numbers(monkeypatch) -> None:
    from samesame.lift import LiftVerdict
    from samesame.report.lifted import as_json

    case = {"sizes": {"n": 5}, "kernel": float("inf"), "reference": float("nan")}
    found = json.loads(as_json(LiftVerdict("t", against="different", against_counterexample=case)))
    assert found["against_counterexample"]["kernel"] == "Infinity"


def test_a_reader_that_leaves_is_no_failure() -> None:
    command = [sys.executable, "-m", "samesame", "lift", target("vector_add")]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    assert done.returncode == 0 and "samesame:" not in done.stderr


LAUNCH = "x, y = tensors(n)\nout = torch.empty_like(x)\n"
AFTER = LAUNCH + "add_kernel[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)\n"
MEASURED = "triton.testing.do_bench(lambda: add_kernel[(8,)](x, y, out, n, BLOCK=128))  # HERE"


@pytest.mark.parametrize(
    "body, words",
    [
        (LAUNCH + "add_kernel[(n / 128,)](x, y, out, n, BLOCK=128)  # HERE", "on a grid with a float"),
        (LAUNCH + "add_kernel(x, y, out, n, BLOCK=128)  # HERE", "calls a kernel without a grid"),
        (LAUNCH + "torch.cuda.Event().record()  # HERE\n", "needs a real CUDA device"),
    ],
)
def test_what_keeps_a_launch_from_being_reached_is_told_with_the_users_line(tmp_path, body: str, words: str) -> None:
    name = launching(tmp_path, body)
    code, output = run(name)
    assert code == 2 and output.count("\n") == 1
    assert f"kernels.py:{line_of(name)} " in output and words in output


@pytest.mark.parametrize(
    "line, words",
    [
        ("torch.testing.assert_close(out, x + y)  # HERE", "lets values of tensors decide"),
        (MEASURED, "measures how long a launch takes"),
    ],
)
def test_what_comes_after_a_launch_leaves_its_verdict(tmp_path, line: str, words: str) -> None:
    name = launching(tmp_path, AFTER + line)
    code, output = run(name)
    assert code == 3 and "add_kernel   verified, if out contiguous; n ≥ 2   addition" in output
    (sentence,) = (line for line in output.splitlines() if line.startswith("  not lifted "))
    assert f"kernels.py:{line_of(name)} " in sentence and words in sentence


def test_a_loop_without_an_end_is_told_once_with_the_users_line(tmp_path) -> None:
    from samesame.kernels.host.launches import capture_launches

    name = launching(tmp_path, AFTER + "while True:\n    n + 1  # HERE")
    captured = capture_launches(name, timeout=3.0)
    assert len(captured.launches) == 1
    lines = {line_of(name), line_of(name) - 1}
    assert any(f"kernels.py:{line} still runs after 3 seconds" in captured.refused[0] for line in lines)


@pytest.mark.parametrize(
    "name, words",
    [
        ("{file}:add_kernel", "is a Triton kernel; give a function that launches it"),
        ("{file}:tensors", "asks for n; give example inputs (--inputs file.py:inputs)"),
        ("kernels", "names no function; write file.py:launch"),
    ],
)
def test_another_target_is_told_what_to_give(tmp_path, name: str, words: str) -> None:
    file = launching(tmp_path, AFTER).removesuffix(":launch")
    code, output = run(name.format(file=file))
    assert code == 2 and output.count("\n") == 1 and words in output


def test_a_tensor_on_a_device_is_not_made_while_a_file_is_imported(tmp_path) -> None:
    name = launching(tmp_path, AFTER, before="\nX = torch.randn(5, device='cuda')  # HERE\n")
    code, output = run(name)
    assert code == 2 and output.count("\n") == 1
    assert f"kernels.py:{line_of(name)} makes a tensor on a CUDA device while the file is imported" in output


TTIR = """module {
  tt.func public @copy(%x: !tt.ptr<f32, 1>, %out: !tt.ptr<f32, 1>, %n: i32) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = tt.splat %1 : (i32) -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tt.splat %n : (i32) -> tensor<64xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<64xi32>
    %7 = tt.splat %x : (!tt.ptr<f32, 1>) -> tensor<64x!tt.ptr<f32, 1>>
    %8 = tt.addptr %7, %4 : tensor<64x!tt.ptr<f32, 1>>, tensor<64xi32>
    %9 = tt.load %8, %6 {cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<64xf32>
    %10 = tt.splat %out : (!tt.ptr<f32, 1>) -> tensor<64x!tt.ptr<f32, 1>>
    %11 = tt.addptr %10, %4 : tensor<64x!tt.ptr<f32, 1>>, tensor<64xi32>
    tt.store %11, %9, %6 {cache = 1 : i32, evict = 1 : i32} : tensor<64xf32>
    tt.return
  }
}
"""


def test_ttir_of_another_version_without_locations_is_told_by_its_own_lines(tmp_path) -> None:
    """As Triton 2.1 wrote it: types in brackets, attributes as numbers."""
    file = tmp_path / "copy.ttir"
    file.write_text(TTIR)
    code, output = run(str(file))
    assert code == 3 and re.search(r"out\*\[(.*)\] = x\*\[\1\] where (64·pid0 \+ lane|lane \+ 64·pid0) < n\n", output)
    assert f"bounds     undecided  load of x is not shown to stay inside it   {file}:13\n" in output
    assert "note       TTIR says nothing of tensors' shapes" in output and "an unknown line" not in output


def test_block_pointers_of_an_older_triton_are_told_with_what_to_do(tmp_path) -> None:
    file = tmp_path / "copy.ttir"
    made = "%7 = tt.make_tensor_ptr %x, [%n], [%1], [%1] {order = array<i32: 0>} : <tensor<64xf32>, 1>"
    file.write_text(re.sub("%7 = .*", made, TTIR))
    code, output = run(str(file))
    assert code == 3 and f"{file}:11: block pointers (tl.make_block_ptr) have no meaning here; use offsets" in output


@pytest.mark.parametrize(
    "held, words",
    [
        (b"", "holds no kernel"),
        (bytes(range(256)), "is no text"),
        (TTIR.encode()[:800], "is the file cut off?"),
        (TTIR.encode()[:700], "is the file cut off?"),
        (TTIR.replace("64xi32>", "64xi32, #b>").replace("module {", "#b = #ttg.blocked<{}>\nmodule {").encode(),
         "1 is TTGIR, in which tiles have layouts; give the .ttir file beside it"),
        ((TTIR + TTIR.replace("@copy", "@other")).encode(), "holds 2 kernels; give the TTIR of one"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_holds_no_ttir_of_one_kernel_is_told_in_one_sentence(tmp_path, held, words: str) -> None:
    file = tmp_path / "kernel.ttir"
    if held is not None:
        file.write_bytes(held)
    code, output = run(str(file))
    assert code == 2 and output.count("\n") == 1 and words in output and str(file) in output


def test_a_difference_from_the_reference_is_run_in_the_interpreter_and_in_torch(tmp_path) -> None:
    body = AFTER.replace("x, y = tensors(n)", "x, y = torch.randn(n), torch.randn(n)") + "return out"
    name = launching(tmp_path, body, before="""

def reference(x, y):
    return x + y * y


def other_shape(x, y):
    return (x + y)[:-1]
""")
    file = tmp_path / "verdict.json"
    code, output = run(name, "--against", name.replace(":launch", ":reference"), "--json", str(file))
    case = json.loads(file.read_text())["against_counterexample"]
    assert code == 1 and "seen in Triton's interpreter too" in output
    assert case["replayed"] == "yes" and abs(case["run"]["interpreter"] - case["run"]["torch"]) > 0.1
    code, output = run(name, "--against", name.replace(":launch", ":other_shape"))
    assert code == 1 and "shapes [[1000], [999]]; seen in Triton's interpreter too" in output


def test_a_bound_is_said_in_the_sizes_of_the_launch(tmp_path) -> None:
    """And not in the symbols in which they are written for a proof, such as the one for what n is more than k."""
    (tmp_path / "picked.py").write_text('''
import torch
import triton
import triton.language as tl


@triton.jit
def picked_kernel(x_ptr, at_ptr, out_ptr):
    row = tl.program_id(0)
    tl.store(out_ptr + row, tl.load(x_ptr + tl.load(at_ptr + row)) + tl.load(x_ptr + row))


def launch(n=12, k=5):
    x, at = torch.randn(n, device="cuda"), torch.randint(0, n, (k,), device="cuda")
    out = torch.empty(k, device="cuda")
    picked_kernel[(k,)](x, at, out)
    return out


def reference(x, at):
    return x[at] + x[: at.shape[0]]
''')
    code, output = run(f"{tmp_path / 'picked.py'}:launch", "--against", f"{tmp_path / 'picked.py'}:reference")
    assert code == 0 and "same where 0 ≤ at ≤ n − 1" in " ".join(output.split())


def test_a_difference_that_no_run_shows_says_so() -> None:
    """Rounding is no difference, and what is no number is one."""
    import torch

    from samesame.lift.differences import furthest

    x = torch.randn(50)
    assert furthest(x, x.double() * (1 + 1e-6)) is None
    assert furthest(x, torch.where(torch.arange(50) == 7, x + 1, x).double()) == (7,)
    assert furthest(x, torch.where(torch.arange(50) == 9, torch.nan, x).double()) == (9,)


@pytest.mark.parametrize(
    "made, tensors", [("torch.randn(n), torch.randn(n)", "(x, y)"), ("tensors(n)", "(none, as it makes none")]
)
def test_a_reference_with_other_parameters_is_told_the_launchs_tensors(tmp_path, made: str, tensors: str) -> None:
    body = AFTER.replace("tensors(n)", made) + "return out"
    name = launching(tmp_path, body, before="\n\ndef reference(a, b):\n    return a + b\n")
    code, output = run(name, "--against", name.replace(":launch", ":reference"))
    assert code == 2 and output.count("\n") == 1
    assert f"parameters have to be called as the launch's tensors {tensors}" in output


def test_formulas_have_small_numbers_as_decimals_and_roots_below_the_bar() -> None:
    _, output = run(target("rms_norm"))
    assert "out[i, j] = x[i, j]·weight[j] / √((Σ_{k<N} x[i, k]²) / N + 1e-06)" in output
    _, output = run(target("layer_norm"))
    mean, variance = "(Σ_{k<N} x[i, k]) / N", "(Σ_{k<N} (x[i, k] − (Σ_{l<N} x[i, l]) / N)²) / N"
    assert f"out[i, j] = weight[j]·(x[i, j] − {mean}) / √({variance} + 1e-05) + bias[j]" in output


def test_an_undefined_value_in_a_formula_is_named_by_its_line_alone() -> None:
    (variant,) = (v for v in broken_variants() if str(v) == "softmax-missing_other")
    _, output = run(variant.target)
    formula = output.splitlines()[1]
    assert "else undefined softmax_missing_other.py:12[" in formula and "FP_FUSION" not in output


SWIGLU = """
@triton.jit
def swiglu_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    tl.store(out_ptr + i, a * tl.sigmoid(WHAT) * b, mask=i < n)
"""


@pytest.mark.parametrize("what, name", [("a", "SwiGLU"), ("b", "SwiGLU"), ("a + b", "")])
def test_a_gated_unit_has_its_name_and_no_other(tmp_path, what: str, name: str) -> None:
    body = AFTER.replace("add_kernel", "swiglu_kernel")
    _, output = run(launching(tmp_path, body, before=f"\n\n{SWIGLU.replace('WHAT', what)}"))
    assert output.splitlines()[0] == f"swiglu_kernel   verified, if out contiguous; n ≥ 2   {name}".rstrip()


@pytest.mark.parametrize(
    "kernel, name",
    [
        ("rope", "rotary embedding"),
        ("welford", "mean over the last dimension, variance over the last dimension"),
        ("running_variance", "variance over the last dimension"),
    ],
)
def test_known_formulas_have_names(kernel: str, name: str) -> None:
    _, output = run(target(kernel), "--timeout", "60")
    first = output.splitlines()[0]
    assert "   verified, if " in first and first.endswith(f"   {name}")


def test_a_rotation_the_other_way_has_no_name() -> None:
    (variant,) = (v for v in broken_variants() if str(v) == "rope-wrong_sign")
    _, output = run(variant.target)
    assert "rotary embedding" not in output
