"""samesame refine on the command line: exit codes, JSON, and one clear sentence for what cannot be used."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from samesame.cli import app

JOB = """
import torch
from torch import nn
import torch.distributed as dist

class Rank(nn.Module):
    def __init__(self, layer, rank, world_size):
        super().__init__()
        self.weight = nn.Parameter(layer.weight.detach().chunk(world_size, 1)[rank].clone())
        self.rank, self.world_size = rank, world_size

    def forward(self, x):
        y = x.chunk(self.world_size, 1)[self.rank] @ self.weight.t()
        REDUCE
        return y

def sequential():
    return nn.Linear(4, 3, bias=False)

def distributed(rank, world_size):
    return Rank(sequential(), rank, world_size)

def inputs():
    return (torch.randn(2, 4),)
"""


CASES = Path(__file__).parents[3] / "shared" / "data" / "entangle"


def schema(verb: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("samesame.report").joinpath(f"{verb}.schema.json").read_text())
    return found


def job(folder: Path, reduce: str = "dist.all_reduce(y)", text: str = JOB) -> str:
    file = folder / f"job_{abs(hash((reduce, text)))}.py"
    file.write_text(text.replace("REDUCE", reduce))
    return str(file)


def test_a_job_that_refines_exits_with_0_and_says_how(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["refine", job(tmp_path), "--world-size", "2"])
    assert done.exit_code == 0, done.output
    assert "refines   1 output on 2 ranks" in done.stdout and "all_reduce sum" in done.stdout


def test_inputs_that_are_one_tensor_are_one_input(tmp_path: Path) -> None:
    text = JOB.replace("(torch.randn(2, 4),)", "torch.randn(2, 4)")
    done = CliRunner().invoke(app, ["refine", job(tmp_path, text=text), "--world-size", "2"])
    assert done.exit_code == 0 and "1 output on 2 ranks" in done.stdout, done.output


def test_a_missing_reduction_exits_with_1_and_json_says_where(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["refine", job(tmp_path, "pass"), "--json", "-"])
    assert done.exit_code == 1, done.output
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema("refine"))
    assert document["divergence"]["operator"]["operator"] == "aten.mm.default" and not document["stuck"]
    assert document["verdict"] == "does not refine" and document["world_size"] == 2
    assert document["outputs"][0]["kind"] == "partial" and not document["outputs"][0]["holds"]
    assert "summed over all ranks" in document["diagnosis"][0]["edit"]


def test_ranks_that_wait_for_each_other_are_a_finding(tmp_path: Path) -> None:
    text = job(tmp_path, "dist.all_reduce(y) if self.rank else dist.broadcast(y, 0)")
    done = CliRunner().invoke(app, ["refine", text, "--json", str(tmp_path / "out.json")])
    assert done.exit_code == 1 and "waits" in done.stdout, done.output
    document = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(document, schema("refine"))
    assert "rank 1 waits for all_reduce" in document["stuck"] and document["divergence"] is None


def test_ranks_that_both_wait_for_a_message_are_a_finding_too(tmp_path: Path) -> None:
    text = job(tmp_path, "came = torch.empty_like(y); dist.recv(came, 1 - self.rank); dist.send(y, 1 - self.rank)")
    done = CliRunner().invoke(app, ["refine", "--quiet", text])
    assert done.exit_code == 1 and "rank 1 waits for recv" in done.stdout and "rank 0 is at recv" in done.stdout


def test_a_number_of_ranks_that_does_not_divide_is_one_sentence(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["refine", job(tmp_path), "--world-size", "3"])
    assert done.exit_code == 2 and len(done.output.strip().splitlines()) == 1, done.output
    assert "on rank 2 of 3; if a dimension does not divide by 3, give another world size" in done.output


@pytest.mark.skipif(not CASES.exists(), reason="the captured graphs are not beside the checkout")
def test_the_verdict_on_a_case_keeps_to_the_schema() -> None:
    done = CliRunner().invoke(app, ["refine", "--case", str(CASES / "bug_grad_accumulation/relation.json"), "--json",
                                    "-"])
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema("refine"))
    assert done.exit_code == 1 and document["divergence"] is not None


def test_both_schemas_say_the_same_of_what_both_verdicts_have() -> None:
    check, refine = schema("check"), schema("refine")
    own = {"weights", "because", "only", "differences", "ignored", "scope"}          # of what `check` alone asks
    assert set(check["required"]) - own < set(refine["required"])
    shared = set(check["$defs"]) & set(refine["$defs"]) - {"divergence"}
    assert len(shared) > 8 and all(check["$defs"][name] == refine["$defs"][name] for name in shared)


@pytest.mark.parametrize("options, what", [
    (["nowhere.py"], "does not exist"),
    ([], "give a job file"),
    (["nowhere.py", "--case", "x.json"], "one of them"),
    (["nowhere.py", "--tp", "2"], "--tp is for hf:DIR"),
    (["--case", "nowhere.json"], "nowhere.json"),
    (["nowhere.py", "--timeout", "0"], "above 0"),
])
def test_bad_input_is_one_sentence_and_exit_code_2(options: list[str], what: str) -> None:
    done = CliRunner().invoke(app, ["refine", *options])
    assert done.exit_code == 2 and what in done.output.replace("\n", " ").replace("│", ""), done.output


@pytest.mark.parametrize("text, what", [
    ("def sequential(): pass", "defines no inputs"),
    ("def inputs(): return ()\ndef sequential(): pass", "neither distributed"),
    (JOB.replace("nn.Linear(4, 3, bias=False)", "nn.Sequential(nn.Linear(4, 3, bias=False), nn.Dropout(0.5))"),
     "dropout then does nothing), or draw the numbers before, under a seed, and pass them as an argument"),
])
def test_a_job_file_that_says_too_little_or_draws_numbers_is_refused(tmp_path: Path, text: str, what: str) -> None:
    done = CliRunner().invoke(app, ["refine", job(tmp_path, text=text)])
    assert done.exit_code == 2 and what in done.output, done.output
