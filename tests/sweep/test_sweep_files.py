"""The record of a sweep and its waivers: what they hold comes back, and anything else is refused in one sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame.evidence import SamesameError
from samesame.sweep.outcome import OUTCOMES, Outcome, Place, from_json, to_json
from samesame.sweep.probe import Probe
from samesame.sweep.record import open_record
from samesame.sweep.waivers import apply, read_waivers

HEADER = {"left": "hf", "right": "vllm", "config": {"model_type": "llama", "rope_theta": 1e4}, "seed": 0}
FLAGS = st.none() | st.booleans()
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
                    lambda part: st.lists(part, max_size=3), max_leaves=5)
PLACES = st.none() | st.builds(Place, *[st.text(max_size=9)] * 4)
FOUND = st.builds(
    Outcome,
    st.builds(Probe, st.text(max_size=9), JSON, st.dictionaries(st.text(max_size=9), JSON, max_size=3)),
    st.sampled_from(OUTCOMES), message=st.text(max_size=20), moved=st.tuples(FLAGS, FLAGS),
    outputs=st.tuples(st.text(max_size=9)), edits=st.tuples(st.text(max_size=9)), left=PLACES, right=PLACES,
    max_error=st.none() | st.floats(allow_nan=False), tokens=st.integers(0, 99),
)


def probe(field="hidden_act", value="gelu"):
    return Probe(field, value, {field: value})


@given(FOUND)
def test_an_outcome_comes_back_from_json(outcome):
    assert from_json(json.loads(json.dumps(to_json(outcome)))) == outcome


def test_what_is_done_comes_back_and_what_comes_is_added(tmp_path):
    path = tmp_path / "record.jsonl"
    for number, value in enumerate(["gelu", "relu", "tanh"]):
        record = open_record(path, HEADER)
        assert len(record.done) == number
        record.add(Outcome(probe(value=value), "same"))
        record.close()
    assert {outcome.probe.value for outcome in open_record(path, HEADER).done.values()} == {"gelu", "relu", "tanh"}


@given(st.integers(1, 60))
def test_a_line_that_was_cut_short_is_dropped(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("record") / "record.jsonl"
    record = open_record(path, HEADER)
    for value in ("gelu", "relu"):
        record.add(Outcome(probe(value=value), "same"))
    record.close()
    path.write_text(path.read_text()[:-cut])
    again = open_record(path, HEADER)
    again.add(Outcome(probe(value="tanh"), "same"))
    again.close()
    assert [o.probe.value for o in open_record(path, HEADER).done.values()] == ["gelu", "tanh"]


@pytest.mark.parametrize("text, message", [
    ("hello", "is no record of a sweep"),
    ("hello\n", "is no record of a sweep; give a file that --resume wrote, or a new name"),
    ("[1]\n", "is no record of a sweep"),
    ('{"format": 1}\n{"field": 1}\n', "is no record of a sweep"),
    (json.dumps({"format": 1, **HEADER, "seed": 3}) + "\n", "the record of another sweep: its seed is 3 and not 0"),
    (json.dumps({"format": 2, **HEADER}) + "\n", "its format is 2 and not 1"),
])
def test_another_file_is_no_record(tmp_path, text, message):
    path = tmp_path / "record.jsonl"
    path.write_text(text)
    with pytest.raises(SamesameError, match=message) as caught:
        open_record(path, HEADER)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert path.read_text() == text


def test_a_record_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(SamesameError, match="cannot read"):
        open_record(tmp_path, HEADER)
    with pytest.raises(SamesameError, match="cannot write"):
        open_record(tmp_path / "no" / "folder.jsonl", HEADER)


# ------------------------------------------------------------------------------------------------------------- waivers

FIELDS = ["hidden_act", "mlp_bias"]


def waivers_of(tmp_path, found):
    path = tmp_path / "waivers.json"
    path.write_text(found if isinstance(found, str) else json.dumps(found))
    return read_waivers(path, "llama", FIELDS)


@pytest.mark.parametrize("found, message", [
    ("{", "is no JSON"),
    ([], "is no file of waivers; give"),
    ({"format": 1}, "is no file of waivers"),
    ({"format": 1, "waive": [{"field": "mlp_bias"}]}, "waiver 1 lacks a field or a reason"),
    ({"format": 1, "waive": [{"field": "mlp_bias", "reason": " "}]}, "the reason of waiver 1 is no text"),
    ({"format": 1, "waive": [{"field": "mlp_bias", "reason": "x", "vlaue": 1}]}, "waiver 1 has 'vlaue'"),
    ({"format": 1, "waive": [{"field": "mlp_bais", "reason": "x"}]}, "waives mlp_bais, which is no field"),
])
def test_a_file_that_waives_nothing_is_refused(tmp_path, found, message):
    with pytest.raises(SamesameError, match=message) as caught:
        waivers_of(tmp_path, found)
    assert "waivers.json" in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_of_waivers(tmp_path):
    with pytest.raises(SamesameError, match="cannot read"):
        read_waivers(tmp_path / "none.json", "llama", FIELDS)


def test_what_is_known_is_waived_and_what_is_not_stays(tmp_path):
    waivers = waivers_of(tmp_path, {"format": 1, "waive": [
        {"field": "hidden_act", "value": "gelu", "reason": "as agreed"},
        {"field": "mlp_bias", "reason": "all of them"},
        {"field": "attention_bias", "model_type": "qwen3", "reason": "another model's"},
    ]})
    outcomes = [Outcome(probe(value=v), "different") for v in ("gelu", "relu")]
    outcomes.append(Outcome(probe("mlp_bias", True), "same"))
    found, notes = apply(waivers, outcomes)
    assert [outcome.waived for outcome in found] == ["as agreed", "", ""]
    assert notes == ["The waiver for mlp_bias is not needed."]


def test_true_is_not_one(tmp_path):
    waivers = waivers_of(tmp_path, {"format": 1, "waive": [{"field": "mlp_bias", "value": 1, "reason": "x"}]})
    assert not apply(waivers, [Outcome(probe("mlp_bias", True), "different")])[0][0].waived
