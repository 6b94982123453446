"""The report says what a person asks, in that order, at any width and without colour."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest

import verdicts
from samesame.evidence import Divergence, Evidence, Root, Rung, Verdict
from samesame.report import headline, plain_text, print_report
from samesame.report.repetition import inline, repeated

ALL = [verdicts.same, verdicts.different, verdicts.undecided]


def words(text: str) -> str:
    """The text with every run of blanks and line ends as one blank, so that wrapping does not matter."""
    return " ".join(text.split())


def test_headline_of_same_counts_relations_by_how_they_were_established():
    assert headline(verdicts.same()).plain == (
        "same   every output proved at these sizes (17 relations, 2 proofs, 6 by rule)"
    )


def test_a_relation_that_stays_undecided_is_not_counted_as_a_proof():
    verdict = verdicts.same()
    verdict.relations.append(replace(verdict.relations[-1], evidence=Evidence(Rung.UNDECIDED, "smt")))
    assert "(17 relations, 2 proofs, 6 by rule)" in headline(verdict).plain
    assert "2 proofs, 6 by rule, 1 open" in plain_text(verdict)


def test_headline_of_different_names_the_output_and_by_how_much():
    said = "different   1 of 2 outputs differs: logits, by up to 3.2e-03 over all draws"
    assert headline(verdicts.different()).plain == said


def test_the_worst_output_is_the_one_that_is_not_finite():
    verdict = verdicts.different()
    verdict.roots = [
        Root(name, name, name, Evidence(Rung.REFUTED, "values"), error, error)
        for name, error in (("a", 3.0), ("b", math.nan), ("c", 1.0))
    ]
    assert headline(verdict).plain == "different   3 of 3 outputs differ, output b the most, by infinity on some draw"


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_asked_and_none_ends_in_blanks(make, width):
    lines = plain_text(make(), width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("make", ALL)
def test_every_report_says_that_proofs_are_over_the_reals(make):
    assert "Proofs are over the real numbers: a cast counts as the identity" in words(plain_text(make()))


def test_the_divergence_shows_both_places_with_their_source_text():
    report = plain_text(verdicts.different())
    for part in (
        "examples/fused_llama.py:22",
        "x * torch.rsqrt(v + 1e-06)",
        "examples/fused_llama.py:41",
        "wide * torch.rsqrt(mean + 1e-05)",
        "Inputs that still agree: add_3, model.layers.1.input_layernorm.weight",
    ):
        assert part in report


def test_source_text_is_read_from_the_file_where_the_origin_has_none(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("first\n    y = x + 1\n")
    verdict = verdicts.different()
    left = replace(verdict.divergence.left, origin=replace(verdicts.origin(2, "m", ""), file=str(file)))
    verdict.divergence = Divergence(left, None)
    report = plain_text(verdict)
    assert "y = x + 1" in report
    assert "right  no counterpart" in report


def test_edits_say_what_becomes_what_where_and_how_that_was_verified():
    report = words(plain_text(verdicts.different()))
    assert "They agree again if right `eps=1e-05` becomes `1e-06` (examples/fused_llama.py:41)" in report
    assert "verified: with this edit every output is proved the same" in report
    assert "or if left `eps=1e-06` becomes `1e-05` (examples/fused_llama.py:22)" in report
    assert "verified on values only" in report


def test_effect_on_outputs_is_in_numbers():
    report = words(plain_text(verdicts.different()))
    assert (
        "difference at most 3.2e-03, on average 1.1e-04; log-probabilities change by at most 2.1e-03; "
        "the argmax changes in 2 of 18 positions"
    ) in report


def test_undecided_lists_what_is_left_open():
    report = plain_text(verdicts.undecided())
    opened = report[report.index("left open") : report.index("relations")]
    assert "topk_1 = sort_1[0:4]" in opened
    assert "the solver gave up after 10 s" in opened


def test_a_difference_on_draws_is_not_taken_for_one_on_the_inputs_given():
    report = words(plain_text(verdicts.different()))
    assert "effect on the outputs, on the inputs given difference at most 3.2e-03" in report
    assert "refuted: difference at most 3.2e-03, on average 1.1e-04, over all draws" in report


def test_rounding_shows_the_error_of_each_side():
    assert "logits   2.1e-07   1.8e-07   float32, worst of 3 draws" in plain_text(verdicts.same())


def test_layers_are_read_as_one_and_verbose_shows_each():
    brief, full = plain_text(verdicts.same(32)), plain_text(verdicts.same(32), verbose=True)
    assert "model.layers.0…31.self_attn   64" in brief
    assert "layers.i.qkv.weight = concat(q_proj.weight, k_proj.weight, v_proj.weight; 0)\n" in brief
    assert "of model.layers.i.self_attn   i = 0…31" in brief
    assert len(brief.splitlines()) < 40
    for layer in range(32):
        assert f"layers.{layer}.qkv.weight = concat(model.layers.{layer}.self_attn.q_proj.weight" in words(full)
        assert f"einsum_{layer} = reshape(mm_{layer}, [2, 9, 36])" in full


def test_conditions_are_listed_once_with_how_often_they_were_used():
    report = plain_text(verdicts.same())
    assert f"{verdicts.MASK}     4 times" in report


def test_text_of_the_user_is_not_markup():
    verdict = verdicts.same()
    verdict.notes = ["[red]x[0][/red] :smile: [link=a]"]
    assert "[red]x[0][/red] :smile: [link=a]" in plain_text(verdict)


def test_an_empty_verdict_has_a_report():
    assert plain_text(Verdict("undecided", Rung.UNDECIDED)).startswith("undecided   not every output could be compared")


def test_no_colour_codes_go_to_a_file():
    file = io.StringIO()
    print_report(verdicts.different(), file=file)
    assert "\x1b" not in file.getvalue()
    assert file.getvalue().startswith("different   ")


# ------------------------------------------------------------------------------------------------------ repeated layers


def test_a_relation_that_crosses_layers_stands_out():
    crossing = 0, 1, 7
    groups = repeated((f"layers.{right}.w", f"model.layers.{left}.w") for right, left in enumerate(crossing))
    assert [(group.texts, group.range) for group in groups] == [
        (("layers.i.w", "model.layers.i.w"), "i = 0…1"),
        (("layers.2.w", "model.layers.7.w"), ""),
    ]


def test_each_number_of_a_path_has_its_letter():
    pairs = [(f"layers.{a}.experts.{b}.w", f"m.{a}.e.{b}.w") for a in range(3) for b in range(2)]
    (group,) = repeated(pairs)
    assert group.texts == ("layers.i.experts.j.w", "m.i.e.j.w")
    assert group.range == "i = 0…2, j = 0…1"
    (partial,) = repeated(pairs[:-1])
    assert partial.range == "i = 0…2, j = 0…1 (5 of them)"


def test_numbers_in_a_layout_are_no_layers():
    (group,) = repeated([(f"layers.{a}.w", f"scale(m.{a}.w, 0.5; {a})") for a in range(1)])
    assert group.texts == ("layers.0.w", "scale(m.0.w, 0.5; 0)")
    groups = repeated([(f"layers.{a}.w", f"scale(m.{a}.w, 0.5; 0)") for a in range(2)])
    assert [group.texts for group in groups] == [("layers.i.w", "scale(m.i.w, 0.5; 0)")]


def test_gaps_in_a_range_are_not_papered_over():
    assert inline(["a.0.b", "a.2.b", "a.4.b", "c", "a.1.d"]) == {
        "a.0.b": "a.0,2,4.b", "a.2.b": "a.0,2,4.b", "a.4.b": "a.0,2,4.b", "c": "c", "a.1.d": "a.1.d",
    }
