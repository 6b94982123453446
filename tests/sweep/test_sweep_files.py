"""Outcomes and waivers: what they hold comes back, and anything else is refused in one sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame.evidence import SamesameError
from samesame.sweep.outcome import OUTCOMES, Outcome, Place, from_json, to_json
from samesame.sweep.probe import Probe
from samesame.sweep.waivers import apply, read_waivers

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
