"""Captured graphs: what refines is proved of the captured program, what does not is refuted at the right tensor, and
what cannot be used is refused.

Graphs that others captured are read from beside the checkout; tests that need them are skipped without them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from samesame.cli import app
from samesame.entangle.captured import stated_parts
from samesame.entangle.case import load_case
from samesame.entangle.verb import _words, refine_case
from samesame.evidence import Evidence, Refinement, Rung
from samesame.relate.blocks import Block
from samesame.relate.layout import Slice, Whole
from samesame.relate.prove import Prover
from samesame.relate.sized import symbols_of

DATA = Path(__file__).parents[3] / "shared" / "data" / "entangle"
needs_graphs = pytest.mark.skipif(not DATA.exists(), reason="the captured graphs are not beside the checkout")


def case(name: str) -> str:
    return str(DATA / name / "relation.json")


@cache
def refined(name: str) -> Refinement:
    """What is found of a case, for all tests that ask about it as it is."""
    return refine_case(case(name))


@needs_graphs
@pytest.mark.parametrize("name, output, lies", [
    ("gpt", "div_2", "replicated"),
    ("qwen2", "getitem_34", "replicated"),
    ("aws_llama", "reshape.149", "shard(0)"),
])
def test_what_refines_is_proved_of_the_captured_program(name: str, output: str, lies: str) -> None:
    verdict = refined(name)
    assert verdict.verdict == "refines", verdict.notes
    assert [(o.name, o.expected, o.holds) for o in verdict.outputs] == [(output, lies, True)]
    captured = load_case(case(name)).sizes.captured
    varying = {told.split()[0] for told in verdict.sizes.varying}
    fixed = {told.split()[0] for told in verdict.sizes.fixed}
    assert varying | fixed == set(captured) and not varying & fixed
    assert verdict.evidence is (Rung.PROVED if varying else Rung.PROVED_HERE)
    assert all(f"captured: {captured[told.split()[0]]}" in told for told in verdict.sizes.varying)


@needs_graphs
def test_an_output_that_is_cut_is_compared_on_each_rank_with_the_part_that_is_stated() -> None:
    verdict = refined("aws_llama")
    titles = [root.name for root in verdict.roots]
    assert titles == ["reshape.149", "reshape.149 on rank 0, as stated", "reshape.149 on rank 1, as stated"]


def unproved(monkeypatch: pytest.MonkeyPatch, hard: Callable[[Prover, Block], bool]) -> None:
    """Let proofs of such claims fail."""
    proved = Prover.prove

    def prove(self: Prover, block: Block) -> Evidence | str:
        return "too hard" if hard(self, block) else proved(self, block)

    monkeypatch.setattr(Prover, "prove", prove)


@needs_graphs
def test_a_size_that_is_too_hard_as_a_symbol_is_the_captured_number(monkeypatch: pytest.MonkeyPatch) -> None:
    unproved(monkeypatch, lambda _, block: "H" in symbols_of(block.graph))
    verdict = refine_case(case("qwen2"))
    size = load_case(case("qwen2")).sizes.captured["H"]
    assert verdict.verdict == "refines" and verdict.evidence is Rung.PROVED
    assert [told.split(":")[0] for told in verdict.sizes.fixed] == [f"H = {size}, as captured"]
    assert "too hard" in verdict.sizes.fixed[0] and len(verdict.sizes.varying) == 6


@needs_graphs
def test_what_is_proved_for_no_symbol_is_proved_at_the_captured_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    unproved(monkeypatch, lambda prover, block: bool(prover.sizes) and bool(symbols_of(block.graph)))
    verdict = refine_case(case("qwen2"))
    assert verdict.verdict == "refines" and verdict.evidence is Rung.PROVED_HERE
    assert not verdict.sizes.varying and len(verdict.sizes.fixed) == 7
    assert all(relation.evidence.rung is Rung.PROVED_HERE for relation in verdict.relations)


@needs_graphs
def test_a_proof_at_the_reduced_sizes_alone_is_called_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    def large(_: Prover, block: Block) -> bool:
        sizes = [size for node in block.graph.nodes for size in getattr(node.type, "shape", ())]
        return bool(symbols_of(block.graph)) or any(isinstance(size, int) and size > 1000 for size in sizes)

    unproved(monkeypatch, large)
    verdict = refine_case(case("qwen2"))
    assert verdict.verdict == "refines" and verdict.evidence is Rung.TESTED
    told = "proved at the reduced sizes B = 3, T = 4"
    assert all(told in output.evidence.detail for output in verdict.outputs)
    assert all(relation.evidence.rung <= Rung.TESTED for relation in verdict.relations)
    assert any("not at the captured ones" in note for note in verdict.notes)
    assert any("No proof was found at the captured sizes" in note for note in verdict.notes)


# ------------------------------------------------------------------------------------------------------------- bugs


@needs_graphs
def test_gradients_that_are_accumulated_without_their_half_do_not_refine() -> None:
    verdict = refine_case(case("bug_grad_accumulation"))
    assert verdict.verdict == "does not refine" and verdict.evidence is Rung.REFUTED
    assert verdict.loss is not None and "mean" in verdict.loss.instead[0]
    assert any("is divided by 2, in all 2 places where the line runs" in edit.description for edit in verdict.diagnosis)


@needs_graphs
def test_a_missing_all_reduce_does_not_refine_and_is_mended_by_one() -> None:
    verdict = refine_case(case("bug_missing_layernorm_allreduce"))
    assert verdict.verdict == "does not refine"
    assert [(o.name, o.kind, o.expected) for o in verdict.outputs] == [("getitem_58", "partial", "replicated")]
    assert [edit.description for edit in verdict.diagnosis] == [
        "getitem_58 is summed over all ranks before the ranks return it"
    ]


@pytest.mark.long
@pytest.mark.models
@needs_graphs
def test_nothing_stated_but_names_finds_every_gradient_that_is_not_reduced(tmp_path: Path) -> None:
    bug = DATA / "bug_missing_layernorm_allreduce"
    file = write(tmp_path, {
        "seq": str(bug / "tp1" / "both.g0.r0.gpickle.gz"),
        "dist": [str(bug / "tp2_bug" / f"both.g0.r{rank}.gpickle.gz") for rank in (0, 1)],
        "unstated": "by name and shape",
        "const_tensor_value": 0,
    })
    verdict = refine_case(file)
    assert verdict.verdict == "does not refine" and len(verdict.outputs) == 22
    wrong = {output.name for output in verdict.outputs if output.evidence.rung is Rung.REFUTED}
    assert wrong == {"add_8", "add_13", "add_14", "add_15", "add_17", "add_19", "add_20", "add_24", "add_25"}


# ------------------------------------------------------------------------------------------------- files, command line


def write(folder: Path, case: dict[str, Any]) -> str:
    file = folder / "relation.json"
    file.write_text(json.dumps({"format": "refinement-case/1", **case}))
    return str(file)


@needs_graphs
def test_the_command_line_takes_a_case(tmp_path: Path) -> None:
    out = tmp_path / "verdict.json"
    done = CliRunner().invoke(app, ["refine", "--case", case("aws_llama"), "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert "refines" in done.stdout and "2 ranks" in done.stdout
    document = json.loads(out.read_text())
    assert document["verdict"] == "refines" and document["sizes"]["varying"]


@needs_graphs
def test_the_command_line_exits_with_1_for_a_bug() -> None:
    done = CliRunner().invoke(app, ["refine", "--case", case("bug_grad_accumulation")])
    assert done.exit_code == 1, done.output
    assert "not at the captured ones" in " ".join(done.stdout.split())


def test_a_file_that_is_no_case_exits_with_2(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for file, named in [
        (str(tmp_path / "none.json"), "none.json does not exist"),
        (str(broken), "broken.json is no JSON"),
        (write(tmp_path, {"seq": "nowhere", "dist": ["no"]}), "nowhere does not exist"),
    ]:
        done = CliRunner().invoke(app, ["refine", "--case", file])
        assert done.exit_code == 2 and named in " ".join(done.stderr.split()), done.output


@needs_graphs
def test_a_relation_of_an_unknown_tensor_exits_with_2_and_names_it(tmp_path: Path) -> None:
    given = json.loads(Path(case("bug_grad_accumulation")).read_text())
    given |= {"seq": str(DATA / given["seq"]), "dist": [str(DATA / file) for file in given["dist"]]}
    given["relation"][0]["seq"] = "primals_99"
    done = CliRunner().invoke(app, ["refine", "--case", write(tmp_path, given)])
    assert done.exit_code == 2 and "primals_99" in done.stderr and "Traceback" not in done.stderr


@needs_graphs
def test_a_part_that_is_stated_is_the_word_for_an_output() -> None:
    sides = load_case(case("aws_llama")).shrunk()
    stated = stated_parts(sides)
    assert _words(sides) == {"reshape.149": "shard(0)"}
    assert all(isinstance(stated[f"r{rank}.reshape.149"], Slice) for rank in (0, 1))
    assert isinstance(stated_parts(load_case(case("gpt")).shrunk())["r0.div_2"], Whole)
