"""The record of a run: what is done comes back, and anything else is refused in one sentence."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.evidence import SamesameError
from samesame.work.record import open_record

HEADER = {"record": "sweep", "left": "hf", "right": "vllm", "config": {"rope_theta": 1e4}, "seed": 0}


def opened(path):
    return open_record(path, HEADER, lambda form: form["outcome"])


def test_what_is_done_comes_back_and_what_comes_is_added(tmp_path):
    path = tmp_path / "record.jsonl"
    for number, value in enumerate(["gelu", "relu", "tanh"]):
        record = opened(path)
        assert len(record.done) == number
        record.add(value, {"outcome": "same"})
        record.close()
    assert opened(path).done.keys() == {"gelu", "relu", "tanh"}


@settings(max_examples=10)
@given(st.integers(1, 20))
def test_a_line_that_was_cut_short_is_dropped(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("record") / "record.jsonl"
    record = opened(path)
    for value in ("gelu", "relu"):
        record.add(value, {"outcome": "same"})
    record.close()
    path.write_text(path.read_text()[:-cut])
    again = opened(path)
    again.add("tanh", {"outcome": "same"})
    again.close()
    assert [*opened(path).done] == ["gelu", "tanh"]


@pytest.mark.parametrize("text, message", [
    ("hello", "is no record of a sweep"),
    ("hello\n", "is no record of a sweep; give a file that --resume wrote, or a new name"),
    ("[1]\n", "is no record of a sweep"),
    ('{"format": 1}\n{"field": 1}\n', "is no record of a sweep"),
    (json.dumps({"format": 2, **HEADER, "seed": 3}) + "\n", "the record of another sweep: its seed is 3 and not 0"),
    (json.dumps({"format": 1, **HEADER}) + "\n", "its format is 1 and not 2"),
    (json.dumps({"format": 2, **HEADER, "record": "suite"}) + "\n", "is no record of a sweep"),
    (json.dumps({"format": 2, **HEADER}) + '\n["gelu", {}]\n', "is no record of a sweep"),
])
def test_another_file_is_no_record(tmp_path, text, message):
    path = tmp_path / "record.jsonl"
    path.write_text(text)
    with pytest.raises(SamesameError, match=message) as caught:
        opened(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert path.read_text() == text


def test_a_record_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(SamesameError, match="cannot read"):
        opened(tmp_path)
    with pytest.raises(SamesameError, match="cannot write"):
        opened(tmp_path / "no" / "folder.jsonl")
