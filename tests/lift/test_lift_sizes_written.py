"""Launch functions without parameters: the numbers at their top are sizes, and stay numbers where that proves more."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.evidence import Refused
from samesame.kernels.host.written import with_sizes
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "sizes_written.py"


def against(name: str, reference: str | None = None):
    return lift(f"{FILE}:launch_{name}", f"{FILE}:reference_{reference or name}")


def test_numbers_at_the_top_are_sizes() -> None:
    found = against("halves")
    (kernel,) = found.kernels
    assert found.verdict == "verified" and found.against == "same" and not found.against_held
    assert "cols ≤ 128" in kernel.demands and not any("= 7" in need for need in kernel.demands)


def test_numbers_stay_as_they_are_written_where_that_proves_more() -> None:
    found = against("only_as_written")
    assert found.verdict == "verified" and found.against == "same"
    assert any("112" in need for need in found.kernels[0].demands), found.kernels[0].demands
    assert any("at other sizes than are written" in note for note in found.notes)


def test_a_launch_that_returns_nothing_cannot_be_compared() -> None:
    with pytest.raises(Refused, match="returns no tensor to compare"):
        lift(f"{FILE}:launch_returns_nothing", f"{FILE}:reference_halves")


def test_shifts_by_a_row_of_shifts() -> None:
    found = against("unpacks")
    assert found.verdict == "verified" and found.against == "same"
    assert "−2^30 ≤ zeros[…] < 2^30" in found.kernels[0].preconditions


def test_other_shifts_are_different() -> None:
    assert against("unpacks_wrongly", "unpacks").against == "different"


def test_a_range_that_the_example_breaks_is_not_assumed() -> None:
    found = lift(f"{FILE}:launch_unpacks_what_may_wrap")
    assert found.verdict != "verified"
    assert not any("zeros" in need and "2^" in need for need in found.kernels[0].preconditions)


OTHER = 5


def sizes_of(function) -> dict[str, int]:
    return {p.name: p.default for p in inspect.signature(with_sizes(function)).parameters.values()}


def made_once() -> int:
    MADE.append(None)
    return 3


MADE: list[None] = []


def reads(n: undefined = made_once(), *, most=7):  # noqa: B008, F821
    rows = 5
    return [k for k in range(int(n))], int(rows)


def test_which_numbers_are_sizes() -> None:
    def plain():
        rows, eps, cols = 19, 1e-6, 320
        heads = 4
        one = 1
        flag = True
        return rows, eps, cols, heads, one, flag

    def bound_again():
        rows = 19
        cols = 7
        for rows in range(3):
            cols += rows
        return rows, cols

    def inside():
        if OTHER:
            rows = 3
        return rows

    def of_another(n=3):
        rows = 4
        return rows, n

    assert sizes_of(plain) == {"rows": 19, "cols": 320, "heads": 4}
    assert with_sizes(plain)() == plain() and with_sizes(plain)(cols=8)[2] == 8
    assert sizes_of(bound_again) == {} and sizes_of(inside) == {}
    assert with_sizes(of_another) is of_another
    assert sizes_of(reads) == {"n": 3, "most": 7} and with_sizes(reads)() == ([0, 1, 2], 5)
    held = 4
    assert with_sizes(lambda: held)() == 4


def test_lines_stay_where_they_were() -> None:
    def fails():
        rows = 3

        return rows / 0

    with pytest.raises(ZeroDivisionError) as error:
        with_sizes(fails)()
    last = error.traceback[-1]
    assert (Path(str(last.path)).name, last.lineno + 1) == (Path(__file__).name, fails.__code__.co_firstlineno + 3)


def test_rows_that_programs_share() -> None:
    """The last program has fewer rows than the others, which are numbers in one radix all the same."""
    found = against("rows_in_parts")
    assert found.verdict == "verified" and found.against == "same" and not found.against_held


def test_a_row_that_no_program_has() -> None:
    (kernel,) = lift(f"{FILE}:launch_without_the_last_row").kernels
    assert "violated" in {o.state for o in kernel.obligations if o.name == "coverage"}


def test_numbers_below_zero_mark_what_is_left_out() -> None:
    (kernel,) = lift(f"{FILE}:launch_marks").kernels
    assert kernel.verdict == "verified" and "−1 ≤ col[…] < cols" in kernel.preconditions


def test_an_index_beyond_the_end_is_violated() -> None:
    (kernel,) = lift(f"{FILE}:launch_beyond").kernels
    assert kernel.verdict == "violated"


def test_sizes_of_given_tensors_are_so_many_of_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed words are a fourth of the rows of scales, which no host code says."""
    monkeypatch.syspath_prepend(str(FILE.parent.parent / "promises" / "corpus" / "kernels"))
    import third_15_int4_gemm as int4

    (kernel,) = lift(int4.launch, inputs=int4.inputs()).kernels
    assert kernel.verdict == "verified"
    assert any("qweight.shape[0]" in need and "scales.shape[0]" in need for need in kernel.demands), kernel.demands


def test_parameters_of_the_launch_are_any_numbers() -> None:
    """T = 48 is 16 times H = 3 in the example, by chance: keys are read without a mask."""
    (kernel,) = lift(f"{FILE}:launch_without_a_mask").kernels
    assert kernel.verdict == "violated", kernel.demands
