"""Attempts at real models: what both libraries make of a field, and the script that shows it without samesame."""

import json
import re
import subprocess
import sys
from dataclasses import asdict

import pytest

import samesame.sweep.attempt
from samesame.evidence import Refused, Rung, Verdict
from samesame.sweep.attempt import Laboratory, outcome_of
from samesame.sweep.probe import AS_GIVEN, Probe
from samesame.sweep.probes import probes_of
from samesame.sweep.script import script
from samesame.sweep.verb import laboratory, sides_of
from vllm_models import needs_vllm

CONFIG = {"model_type": "qwen3", "num_attention_heads": 32, "num_key_value_heads": 8}
FIELD = Probe("some_field", 1, {"some_field": 1})


@pytest.fixture(scope="module")
def attempt(tmp_path_factory):
    """Make an attempt at the probe of this field and value, of this kind of rotary scaling if there are several."""
    folder = tmp_path_factory.mktemp("qwen3")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    laboratory = Laboratory(sides_of(f"hf:{folder}", f"vllm:{folder}"), 0, 60.0)

    def one(field, value, beside=""):
        [probe] = [p for p in probes_of(CONFIG).probes
                   if p.field == field and p.value == value and beside in p.companions]
        return laboratory.attempt(probe)

    return one


@pytest.fixture(scope="module")
def without_bias(attempt):
    return attempt("attention_bias", True)


real = [pytest.mark.models, needs_vllm]


class TestReal:
    pytestmark = real

    @pytest.mark.long
    def test_a_field_that_changes_nothing_of_the_relation_is_the_same(self, attempt):
        found = attempt("rms_norm_eps", 0.1)
        assert found.outcome == "same" and found.moved == (True, True), found.message
        assert found.direct_error < 1e-5

    @pytest.mark.long
    def test_what_another_machine_proves_is_checked_on_the_models_that_are_built_here(self, tmp_path):
        (tmp_path / "config.json").write_text(json.dumps(CONFIG))
        work = laboratory(f"hf:{tmp_path}", f"vllm:{tmp_path}", 0, 60.0, "-", True)
        probes = [Probe("rms_norm_eps", value, {"rms_norm_eps": value}) for value in (0.1, 0.2)]
        found = [work({"probe": asdict(probe)}) for probe in probes]
        certificates = [outcome.pop("certificate") for outcome in found]

        def arrived(number, certificate):
            told = {"outcome": found[number], "certificate": certificate}
            return work({"probe": asdict(probes[number]), "arrived": told})

        assert arrived(0, certificates[0])["outcome"] == found[0]["outcome"] == "same"
        other = arrived(0, certificates[1])
        assert other["outcome"] == "undecided" and "not accepted from a machine of the cluster" in other["message"]

    def test_a_bias_that_vllm_drops_is_found_with_its_line(self, without_bias):
        assert without_bias.outcome == "different"
        assert without_bias.max_error > 0.1 and without_bias.direct_error > 0.1
        assert without_bias.left.line.startswith("transformers/models/qwen3/modeling_qwen3.py:")
        assert without_bias.right.module.endswith("layers.0.self_attn.o_proj")
        assert set(without_bias.outputs) == {"prefill_logits", "decode_logits"}

    @pytest.mark.long
    def test_the_side_that_ignores_a_field_is_named(self, attempt):
        found = attempt("rope_parameters.attention_factor", 1.5, "longrope")
        assert found.outcome == "different" and found.ignored_by == "right"

    @pytest.mark.long
    def test_a_field_that_neither_side_reads_moves_nothing(self, attempt):
        found = attempt("use_cache", False)
        assert found.outcome == "same" and found.moves_nothing

    def test_a_refusal_has_the_librarys_own_words(self, attempt):
        found = attempt("hidden_act", "gelu")
        assert (found.outcome, found.by) == ("refused", "right")
        assert found.message == "Unsupported activation: gelu. Only silu is supported for now."

    @pytest.mark.long
    def test_the_script_shows_it_with_the_two_libraries_alone(self, without_bias, tmp_path):
        file = tmp_path / "shows.py"
        file.write_text(script(without_bias))
        ran = subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr[-2000:]
        found = [float(number) for number in re.findall(r"largest difference ([\d.e+-]+)", ran.stdout)]
        assert len(found) == 2 and min(found) > 0.1, ran.stdout


@pytest.mark.parametrize("verdict, apart, outcome", [
    ("same", False, "same"), ("same", True, "undecided"), ("undecided", True, "different"),
    ("undecided", False, "undecided"), ("different", True, "different"), ("different", False, "different"),
])
def test_a_verdict_is_held_against_what_the_programs_compute_by_themselves(verdict, apart, outcome):
    found = outcome_of(FIELD, Verdict(verdict, Rung.UNDECIDED, notes=["open"]), 0.5, apart)
    assert found.outcome == outcome
    assert verdict == outcome == "same" or found.message or apart


def test_what_cannot_be_captured_is_different_only_by_its_values(monkeypatch):
    import torch

    def refuses(*_, **__):
        raise Refused("no meaning for it")

    monkeypatch.setattr(samesame.sweep.attempt, "check", refuses)
    laboratory = Laboratory((), 0, 1.0)
    ones = {"logits": torch.ones(2, 3)}
    ends = {}
    for name, other in (("same", 1.0), ("other", 2.0), ("broken", float("nan"))):
        ends[name] = laboratory.decided(AS_GIVEN, [None, None], {}, [ones, {"logits": torch.full((2, 3), other)}])
    assert (ends["same"].outcome, ends["same"].by) == ("unsupported", "samesame")
    assert (ends["other"].outcome, ends["other"].evidence) == ("different", "values")
    assert (ends["broken"].outcome, ends["broken"].by) == ("different", "right")
