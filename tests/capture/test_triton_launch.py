"""Launches are captured without a GPU: with symbolic sizes where the wrapper allows it, and one sentence where not."""

from __future__ import annotations

import sys
import textwrap
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("triton")

import torch
from triton._C.libtriton import passes

from samesame.evidence import Refused
from samesame.formula.expr import Size
from samesame.formula.sizes import size_text
from samesame.kernels.host.device import TimeUp, limited
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launch import Call, Captured, HostStep
from samesame.kernels.host.launches import capture_launches

HEAD = """
import math
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)


def scale(x, factor=2.0, BLOCK=64):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), factor, BLOCK=BLOCK)
    return out
"""


@pytest.fixture
def captured(tmp_path: Path):
    """Captures the function `launch` of a file that starts with HEAD."""
    def run(text: str, **options) -> Captured:
        path = tmp_path / f"wrapper{len(list(tmp_path.iterdir()))}.py"
        path.write_text(HEAD + textwrap.dedent(text))
        return capture_launches(f"{path}:launch", **options)

    return run


def test_sizes_are_symbols_that_bear_the_parameters_names(captured) -> None:
    found = captured(
        """
        def launch(n=1000):
            x = torch.randn(n, device="cuda")
            return scale(x)
        """
    )
    (launch,) = found.launches
    n = Size("n", 2)
    assert launch.grid[0] is (n + 63) // 64 or size_text(launch.grid[0]) == "⌊(n + 63) / 64⌋"
    assert launch.arguments["n"] is n and launch.arguments["x_ptr"].shape == (n,)
    assert launch.constexprs == {"BLOCK": 64} and launch.signature["factor"] == "fp32"
    assert found.sizes == {"n": 1000} and found.inputs[0][0] == "x"
    assert found.memories[launch.arguments["out_ptr"].memory].contents is None


def test_branches_of_the_wrapper_are_conditions(captured) -> None:
    found = captured(
        """
        def launch(n=1000):
            x = torch.randn(n, device="cuda")
            return scale(x, BLOCK=128 if n <= 4096 else 1024)
        """
    )
    assert [size_text(g) for g in found.guards] == ["n ≤ 4096"]


def test_a_block_size_is_a_choice_and_no_condition(captured) -> None:
    found = captured(
        """
        def launch(n=1000):
            x = torch.randn(n, device="cuda")
            return scale(x, BLOCK=triton.next_power_of_2(n))
        """
    )
    assert found.launches[0].constexprs == {"BLOCK": 1024}
    assert 1024 in found.choices.values() and not found.guards


def test_a_float_may_depend_on_a_size(captured) -> None:
    found = captured(
        """
        def launch(n=1000):
            x = torch.randn(n, device="cuda")
            return scale(x, 1 / math.sqrt(n))
        """
    )
    assert size_text(found.launches[0].arguments["factor"]) == "1 / √n"


def test_host_operators_between_launches_are_steps(captured) -> None:
    found = captured(
        """
        def launch(m=30, n=50):
            x = torch.randn(m, n, device="cuda")
            return twice(x)


        def twice(x):
            first = scale(x)
            total = first.sum(dim=0)
            return scale(total.contiguous())
        """
    )
    kinds = [type(step) for step in found.steps]
    assert kinds == [Call, HostStep, Call]
    step = found.steps[1]
    assert step.operator == "aten.sum.dim_IntList"
    assert step.args[0].memory == found.launches[0].arguments["out_ptr"].memory
    assert step.results[0].memory == found.launches[1].arguments["x_ptr"].memory


def test_every_configuration_of_an_autotuner_is_captured(captured) -> None:
    found = captured(
        """
        @triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b in (32, 64) for w in (4, 8)], key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
        @triton.jit
        def tuned(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x_ptr + offsets, 1.0, mask=offsets < n)


        def launch(n=100):
            x = torch.empty(n, device="cuda")
            tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
            return x
        """
    )
    assert [launch.constexprs["BLOCK"] for launch in found.launches] == [32, 64]
    assert [launch.configuration for launch in found.launches] == ["BLOCK=32", "BLOCK=64"]
    assert {launch.call for launch in found.launches} == {0}


REFUSED = {
    "data decides": ("    x = torch.randn(n, device='cuda')\n    return scale(x, float(x.max()))", r":23 lets values"),
    "a real device": ("    torch.cuda.Event(enable_timing=True)\n    return scale(torch.randn(n))",
                      r":22 needs a real CUDA"),
    "an endless loop": ("    while True:\n        n = n + 1", r":2[23] still runs after 1 seconds"),
    "no launch": ("    return torch.randn(n, device='cuda')", "launches no Triton kernel"),
    "an error": ("    raise ValueError('the size is odd')", ":22 raises ValueError: the size is odd"),
    "wrong arguments": ("    scale_kernel[(1,)](torch.randn(n))", ":22 launches scale_kernel with wrong arguments"),
    "no argument for a kernel": ("    x = torch.randn(n)\n    scale_kernel[(1,)](x, x, object(), 1.0, BLOCK=16)",
                                 ":23 gives scale_kernel an object as n"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_captured_is_said_in_one_sentence_with_its_line(captured, why: str) -> None:
    body, sentence = REFUSED[why]
    with pytest.raises(Refused, match=sentence) as raised:
        captured("\n\ndef launch(n=100):\n" + body + "\n", timeout=1.0 if "loop" in why else 60.0)
    assert "\n" not in str(raised.value)


def test_launches_before_the_failure_are_kept(captured) -> None:
    found = captured(
        """
        def launch(n=100):
            x = scale(torch.randn(n, device="cuda"))
            return scale(x, float(x.max()))
        """
    )
    assert len(found.launches) == 1 and len(found.refused) == 1


OLD = """
@triton.jit
def old(x_ptr, n, BLOCK: tl.constexpr):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    tl.store(pointer, tl.load(pointer) + 1)


@triton.jit
def calls(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, unheard_of(n))


def launch(n=100):
    x = torch.randn(n, device="cuda")
    old[(1,)](x, n, BLOCK=16)
    calls[(1,)](x, n, BLOCK=16)
    scale(x)
"""


def test_a_kernel_that_does_not_compile_names_its_line_and_the_others_go_on(captured) -> None:
    found = captured(OLD)
    old, calls, scale = found.launches
    if hasattr(passes.ttir, "add_rewrite_tensor_pointer"):
        assert "tt.func" in old.ttir, "a Triton that has block pointers makes plain ones of them"
    else:
        with pytest.raises(Refused, match=r":\d+ uses tl.make_block_ptr, which this version of Triton no longer has"):
            old.ttir  # noqa: B018
    with pytest.raises(Refused, match=r":\d+ does not compile: .*unheard_of"):
        calls.ttir  # noqa: B018
    assert "tt.func" in scale.ttir


def test_a_wrapper_that_needs_numbers_runs_at_the_examples_sizes(captured) -> None:
    found = captured(
        """
        def launch(n=100):
            x = torch.randn(n, device="cuda")
            return scale(x, factor={100: 3.0}[n])
        """
    )
    assert found.launches[0].grid == (2, 1, 1) and not found.sizes
    (told,) = found.fixed
    assert told.startswith("the sizes of the example, as the host code asks for them: ")


def test_what_a_wrapper_makes_of_a_sizes_text_is_a_choice(captured) -> None:
    found = captured(
        """
        def launch(n=100):
            return scale(torch.randn(n, device="cuda"), factor={"100": 3.0}[str(n)])
        """
    )
    assert found.sizes == {"n": 100} and found.choices == {"str(n)": "100"}


def test_sizes_that_are_equal_in_the_example_only_are_told(captured) -> None:
    square = "\ndef launch(m=32, n=32, b=1):\n    return scale(torch.randn(b, m, n, device='cuda').flatten())\n"
    assert captured(square).fixed == ("n = m", "b = 1")
    literal = "\ndef launch():\n    return scale(torch.randn(32, 32, device='cuda').flatten())\n"
    assert captured(literal).fixed == ("all sizes that are 32 in the example are equal",)
    meant = "\ndef launch(n=32):\n    return scale(torch.randn(n, n, device='cuda').flatten())\n"
    assert captured(meant).fixed == ()


def test_two_tensors_of_one_name_in_different_functions_are_told_apart(captured) -> None:
    found = captured(
        """
        def launch(n=100):
            x = torch.randn(n, device="cuda")
            return scale(x.flip(0))
        """
    )
    assert {name for name, _ in found.inputs} == {"x", "x_"}


def test_nothing_of_the_pretence_stays(captured) -> None:
    before = torch.cuda.is_available(), triton_launcher()
    captured("\ndef launch(n=100):\n    return scale(torch.randn(n, device='cuda'))\n")
    assert (torch.cuda.is_available(), triton_launcher()) == before


def triton_launcher():
    from triton.runtime.jit import JITFunction, KernelInterface

    return JITFunction.run, KernelInterface.__getitem__, JITFunction.__call__


def test_interpreter_runs_at_other_sizes_and_sees_what_is_undefined(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text(HEAD + textwrap.dedent(
        """
        def launch(n=100):
            x = torch.randn(n, device="cuda")
            out = torch.empty_like(x)
            scale_kernel[(1,)](x, out, n // 2, 3.0, BLOCK=64)
            return out
        """
    ))
    run = interpret(f"{path}:launch", sizes={"n": 40})
    out = run.outputs["0"]
    assert torch.equal(out[:20], run.inputs["x"][:20] * 3) and out[20:].isnan().all()
    assert run.executions[0].written["out_ptr"].sum() == 20
    blank = interpret(f"{path}:launch", sizes={"n": 40}, blank=True)
    assert not blank.outputs["0"][20:].any()


def test_interpreter_names_program_lane_and_line_of_an_access_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "beyond.py"
    path.write_text(HEAD.replace("mask=offsets < n)\n\n", "mask=offsets <= n)\n\n") + textwrap.dedent(
        """
        def launch(n=100):
            return scale(torch.randn(n, device="cuda"))
        """
    ))
    (fault,) = interpret(f"{path}:launch").faults
    assert (fault.kind, fault.program, fault.lane, fault.element) == ("store out of bounds", (1, 0, 0), (36,), 100)
    assert fault.origin.line == 12 and fault.argument == "out_ptr"


class Watched:
    """Something that a weak reference can be told of."""


def test_time_that_is_up_is_told_again_where_python_drops_what_is_raised(monkeypatch) -> None:
    """And nobody is told that it was dropped, as of anything else."""
    told: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", hook := lambda dropped: told.append(dropped.exc_type))

    def busy(_: object) -> None:
        told.append("called")
        while True:
            pass

    with pytest.raises(TimeUp), limited(0.05):
        thing = Watched()
        reference = weakref.ref(thing, busy)
        del thing                                                        # in its callback the time is up
        while reference() is None:
            pass
    assert told == ["called"] and sys.unraisablehook is hook
    with limited(9.0):
        sys.unraisablehook(SimpleNamespace(exc_type=ValueError))         # type: ignore[arg-type]
    assert told == ["called", ValueError]
