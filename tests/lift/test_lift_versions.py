"""What differs between versions of Triton is asked for in one place; what their interpreters get wrong is mended."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

import torch
from triton._C.libtriton import passes

from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.host.versions import defined_at, times_a_single_one
from samesame.lift import KernelVerdict, lift

FOLDER = Path(__file__).parent.parent / "launches"
VERSIONS, LANES, BLOCKS = FOLDER / "versions.py", FOLDER / "lanes.py", FOLDER / "blocks_behind.py"


def lifted(file: Path, name: str) -> KernelVerdict:
    (one,) = lift(f"{file}:launch_{name}").kernels
    return one


def states(kernel: KernelVerdict) -> dict[str, str]:
    return {o.name: o.state for o in kernel.obligations}


def ran(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The example of a launch function of `versions.py`, and what it returns."""
    run = interpret(f"{VERSIONS}:launch_{name}")
    return run.inputs["x"], run.outputs["0"]


def test_a_kernel_is_defined_where_its_def_is() -> None:
    (launch,) = capture_launches(f"{VERSIONS}:launch_added_by_the_one_left").launches
    file, line = defined_at(launch.jit)
    text = VERSIONS.read_text().splitlines()[line - 1]
    assert file == str(VERSIONS) and text.startswith("def added_kernel("), "below its decorators"
    assert launch.origin.line == line


# ------------------------------------------------------------------------------------------------------- what they mean


@pytest.mark.parametrize("leaves_out, state", [(True, "proved"), (False, "undecided")])
def test_numbers_in_no_bin_are_not_counted_only_where_triton_is_known_to_leave_them_out(
    monkeypatch: pytest.MonkeyPatch, leaves_out: bool, state: str
) -> None:
    monkeypatch.setattr("samesame.kernels.host.launch.leaves_out", lambda: leaves_out)
    assert states(lifted(LANES, "bins"))["undefined"] == state
    assert lifted(VERSIONS, "clamped_bins").verdict == "verified", "all are in some bin"


def test_a_file_does_not_say_which_triton_compiles_it(tmp_path: Path) -> None:
    (launch,) = capture_launches(f"{LANES}:launch_bins").launches
    file = tmp_path / "bins.ttir"
    file.write_text(launch.ttir)
    (kernel,) = lift(str(file)).kernels
    (formula,) = kernel.formulas
    assert states(kernel)["undefined"] != "proved" and "lanes.py:12[" in formula.text


@pytest.mark.parametrize("timed, verdict", [(True, "violated"), (False, "verified")])
def test_the_one_configuration_that_is_left_may_be_timed(
    monkeypatch: pytest.MonkeyPatch, timed: bool, verdict: str
) -> None:
    monkeypatch.setattr("samesame.kernels.host.device.times_a_single_one", lambda: timed)
    assert lifted(VERSIONS, "added_by_the_one_left").verdict == verdict


def test_whether_it_is_timed_is_found_out_while_launches_are_captured() -> None:
    times_a_single_one.cache_clear()
    verdict = lifted(VERSIONS, "added_by_the_one_left").verdict
    assert verdict == ("violated" if times_a_single_one() else "verified")


@pytest.mark.skipif(not hasattr(passes.ttir, "add_rewrite_tensor_pointer"), reason="this Triton has no block pointers")
@pytest.mark.parametrize("name, verdict, formula", [
    ("doubled", "verified", "out[i, j] = 2·x[i, j]"), ("unchecked", "violated", "out[i] = 2·x[i]"),
])  # fmt: skip
def test_block_pointers_are_pointers_where_triton_has_them(name: str, verdict: str, formula: str) -> None:
    kernel = lifted(BLOCKS, name)
    assert kernel.verdict == verdict and [f.text for f in kernel.formulas] == [formula]
    run = interpret(f"{BLOCKS}:launch_{name}")
    assert torch.equal(run.outputs["0"], 2 * run.inputs["x"])
    assert bool(run.faults) == (verdict == "violated")


# -------------------------------------------------------------------------------------------- what the interpreter does


def test_truth_values_are_added_as_bits() -> None:
    x, found = ran("truths")
    small, odd = x.abs() < 3, x % 2 != 0
    assert torch.equal(found, odd.int() + 2 * (~small).int())


def test_integers_wrap_around() -> None:
    x, found = ran("whole")
    plain = [int(n) % 2**32 for n in x]
    high = [n * (n * 7 % 2**32) >> 32 for n in plain]
    wanted = [*high, *(2**32 - 1 - n for n in plain), sum(plain) % 2**32]
    assert [int(n) % 2**32 for n in found] == wanted


def test_what_is_no_number_gives_way() -> None:
    x, found = ran("missing")
    root, low, high = x.sqrt(), torch.tensor(0.25), torch.tensor(0.5)
    assert root.isnan().any()
    lower = torch.fmax(root, low)
    torch.testing.assert_close(found, torch.cat([torch.fmin(root, high), lower, torch.fmin(lower, high)]))


def test_a_histogram_has_no_bin_for_what_is_too_large() -> None:
    x, found = ran("counted")
    assert 8 in x and found.tolist() == [int((x == b).sum()) for b in range(8)]


def test_a_loop_ends_by_its_condition_and_ranges_over_tensors_of_one_element() -> None:
    x, found = ran("until")
    torch.testing.assert_close(found, torch.nn.functional.pad(x, (0, 12)).view(-1, 16).sum(0) + 1)
