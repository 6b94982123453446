"""What `verified` promises: a kernel that is right under conditions is verified with these in its headline, and where
the launch itself breaks one it is violated, with the case, or open; never verified, never the same as a reference."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.evidence import Refused
from samesame.lift import LiftVerdict, lift
from samesame.report.lifted import lines

FOLDER = Path(__file__).parent.parent / "launches"

HONEST = {  # by file and launch: what the headline of the last kernel has to say, and what it must not
    "promised": {
        "picked": ("0 ≤ labels[…] < V",),
        "ignoring": ("0 ≤ labels[…] < V or labels[…] = -100",),
        "ignoring_by_a_mask": ("0 ≤ labels[…] < V or labels[…] = -100",),
        "flat": ("0 ≤ at[…] < m·n",),
        "in_order": ("!at[…]",),
        "sorted": ("!at[…]",),
        "largest": ("!at[…]",),
        "clamped": ("!at[…]",),
        "modulo": ("!at[…]",),
        "shuffled": ("!at[…]",),
        "counted": ("0 ≤ at[…] < n",),
        "two_kernels": ("!at[…]",),
        "made_shorter": ("0 ≤ at[…] < n",),
        "made_in_float16": ("0 ≤ at[…] < n",),
    },
    "idealised": {
        "through_float32": ("n ≤ 16777216",),
        "through_float16": ("n ≤ 2048",),
        "through_bfloat16": ("n ≤ 256",),
        "through_float64": ("!n ≤",),
        "float_mask": ("n ≤ 16777215",),
        "counted_in_float16": ("n ≤ 128", "!n ≤ 2"),
        "to_float8": ("|out[…]| ≤ 448",),
        "to_float16": ("|out[…]| ≤ 65504",),
        "rows_along_x": ("!m ≤",),
        "rows_along_y": ("m ≤ 65535",),
        "persistent": ("a device with multi_processor_count = 132",),
        "by_capability": ("a device with compute capability = (9, 0)",),
        "for_no_device": ("!device",),
        "without_strides": ("x contiguous",),
        "made_contiguous": ("!contiguous",),
        "refuses_others": ("!contiguous",),
        "every_second": ("x with strides as in the example",),
    },
    "hinted": {
        "blocks": ("!tl.",),
        "parts_of_blocks": ("!tl.",),
        "rows_of_16": ("tl.multiple_of at ",),
        "repeated": ("!tl.",),
        "assumed_short": ("n ≤ 1999",),
        "assumed_anyway": ("!tl.",),
        "labels_assumed": ("tl.assume at ",),
    },
    "tuned": {
        "added_and_restored": (),
        "added_to_what_is_reset": (),
        "added_by_one_configuration": (),
        "sums_hooked": (),
        "sums_reset": (),
        "doubled": (),
        "relu_in_place": (),
        "even": ("64·⌊n / 64⌋ = n",),
    },
    "kept": {
        "slot": (),
        "two_halves": (),
        "filled": (),
        "zeroed_late": (),
        "copied": (),
        "sum_into_fill": (),
        "behind_the_first": (),
    },
}
BROKEN = {  # by file and launch: the obligation that the launch breaks, and what is said of it
    "promised": {
        "picked_ignored": ("data", "labels[3] = -100 is out of bounds: 0 ≤ labels[…] < V is needed"),
        "picked_ignored_late": ("data", "labels[20] = -100 is out of bounds"),
        "picked_one_too_far": ("data", "labels[36] = 11 is out of bounds"),
        "ignoring_another": ("data", "labels[3] = -1 is out of bounds: 0 ≤ labels[…] < V or labels[…] = -100 is"),
        "behind": ("data", "at[32] = 37 is out of bounds"),
        "counted_too_far": ("data", "at[18] = 37 is out of bounds"),
        "made_shorter_and_wrapped": ("data", "at[128] = -128 is out of bounds"),
        "drawn_too_far": ("data", "is out of bounds: 0 ≤ at[…] < n is needed"),
        "two_kernels_behind": ("data", "at[36] = 37 is out of bounds"),
    },
    "idealised": {
        "through_float16_too_long": ("exact", "float16 does not hold every integer"),
        "compared_with_a_number": ("exact", "float16 does not hold every integer"),
        "too_many_rows_along_y": ("grid", "more than 65535 programs along y"),
    },
    "hinted": {
        "odd_blocks": ("hints", "tl.multiple_of is not so"),
        "rows_of_any": ("hints", "tl.multiple_of is not so"),
        "backwards": ("hints", "tl.max_contiguous is not so"),
        "repeated_less": ("hints", "tl.max_constancy is not so"),
        "assumed_too_short": ("hints", "tl.assume is not so"),
        "labels_below_zero": ("hints", "tl.assume is not so"),
    },
    "tuned": {
        "added_again": ("tuning", "out is read and written, and not put back"),
        "added_to_zeros_again": ("tuning", "out is read and written, and not put back"),
        "added_to_what_is_reset_and_was_not_zero": ("tuning", "out is read and written"),
        "sums_again": ("tuning", "out is read and written"),
        "sums_half_hooked": ("tuning", "out is read and written"),
        "doubled_in_place": ("tuning", "x is read and written"),
        "clamped_and_doubled": ("tuning", "x is read and written"),
    },
    "kept": {
        "slot_of_nothing": ("coverage", "an element of cache is not written"),
        "two_halves_with_a_hole": ("coverage", "an element of out is not written"),
        "one_half": ("coverage", "an element of out is not written"),
        "filled_in_part": ("coverage", "an element of out is not written"),
        "behind_the_first_too_far": ("bounds", "an access leaves its tensor"),
        "into_one_row": ("race", "two programs write one element"),
        "sum_into_nothing": ("undefined", "and the result changes with it"),
    },
}
OPEN = {  # neither verified nor violated: by file and launch, what is not known
    "idealised": {"to_int8": "overflow", "a_third": "bounds", "steps_in_float16": "exact"},
    "kept": {"slots_by_data": "race"},
}


def rows(table):
    return [(file, name, what) for file, launches in table.items() for name, what in launches.items()]


@cache
def said(file: str, name: str) -> LiftVerdict:
    return lift(f"{FOLDER / file}.py:launch_{name}")


@pytest.mark.parametrize("file, name, told", rows(HONEST))
def test_what_is_verified_says_in_its_headline_what_it_stands_on(file: str, name: str, told: tuple[str, ...]) -> None:
    found = said(file, name)
    assert {k.verdict for k in found.kernels} == {"verified"}, [
        (o.name, o.state, o.detail) for k in found.kernels for o in k.obligations if o.state != "proved"
    ]
    headline = found.kernels[-1].headline
    for part in told:
        assert (part[1:] not in headline) if part.startswith("!") else (part in headline), headline
    assert found.kernels[-1].headline in "\n".join(lines(found))


@pytest.mark.parametrize("file, name, what", rows(BROKEN))
def test_what_the_launch_itself_breaks_is_violated_with_the_case(file: str, name: str, what: tuple[str, str]) -> None:
    obligation, words = what
    found = said(file, name)
    every = [o for k in found.kernels for o in k.obligations]
    broken = [o for o in every if o.name == obligation and o.state == "violated"]
    assert broken and words in broken[0].detail, [(o.name, o.state, o.detail) for o in every]
    assert broken[0].counterexample["sizes"] is not None and re.search(r"\.py:\d+", broken[0].place)
    assert found.verdict == "violated" and found.exit_code == 1


@pytest.mark.parametrize("file, name, obligation", rows(OPEN))
def test_what_is_not_known_stays_open(file: str, name: str, obligation: str) -> None:
    found = said(file, name)
    states = {o.name: o.state for k in found.kernels for o in k.obligations}
    assert states[obligation] == "undecided" and found.verdict == "undecided" and found.exit_code == 3


@pytest.mark.long
def test_no_violation_is_one_that_a_run_does_not_show() -> None:
    for file, name, _ in rows(BROKEN):
        for kernel in said(file, name).kernels:
            for o in kernel.obligations:
                shown = o.counterexample.get("replayed", "yes") if o.counterexample else "yes"
                assert o.state != "violated" or shown == "yes", (name, o)


@pytest.mark.parametrize("name", ["ignoring", "ignoring_by_a_mask"])
def test_what_a_kernel_leaves_out_is_part_of_its_formula(name: str) -> None:
    (kernel,) = said("promised", name).kernels
    assert [f.text for f in kernel.formulas] == ["out[i] = {x[i, labels[i]] if 0 ≠ labels[i] + 100 else 0}"]


@pytest.mark.parametrize("name, answer", [("picked", "same"), ("picked_ignored", "undecided")])
def test_a_kernel_is_not_the_reference_where_its_own_data_break_the_condition(name: str, answer: str) -> None:
    file = FOLDER / "promised.py"
    assert lift(f"{file}:launch_{name}", f"{file}:reference_picked").against == answer


def test_what_was_there_before_is_part_of_what_is_compared() -> None:
    file = FOLDER / "kept.py"
    assert lift(f"{file}:launch_filled", f"{file}:reference_filled").against == "same"
    assert lift(f"{file}:launch_copied", f"{file}:reference_copied").against == "same"
    assert lift(f"{file}:launch_filled", f"{file}:reference_copied").against == "different"


def test_what_is_the_same_under_conditions_says_so() -> None:
    file = FOLDER / "promised.py"
    found = lift(f"{file}:launch_picked", f"{file}:reference_picked")
    assert found.against_headline == "same where 0 ≤ labels ≤ V − 1, if all that is needed holds"
    assert found.headline == "verified, if all that is needed holds"


def test_an_example_that_cannot_be_run_is_no_example_that_keeps_a_condition(monkeypatch) -> None:
    def refuse(*_, **__):
        raise Refused("nobody can run this")

    monkeypatch.setattr("samesame.kernels.host.interpret.interpret", refuse)
    (found,) = lift(f"{FOLDER / 'promised.py'}:launch_picked").kernels
    (data,) = (o for o in found.obligations if o.name == "data")
    assert found.verdict == "undecided" and data.state == "undecided" and "nobody can run this" in data.detail
