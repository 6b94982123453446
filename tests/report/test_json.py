"""The JSON of a verdict keeps to its schema, is always valid, and appears whole or not at all."""

from __future__ import annotations

import json
import math
import os
import stat
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy
import pytest

import verdicts
from samesame.evidence import Numeric, Rung, SamesameError, Verdict
from samesame.report import dumps, require_writable, to_json, write

SCHEMA = json.loads(files("samesame.report").joinpath("check.schema.json").read_text())
ALL = [verdicts.same, verdicts.different, verdicts.undecided, lambda: Verdict("undecided", Rung.UNDECIDED)]


def strictly(text: str) -> dict:
    """Parse as JSON's standard says: no NaN, no Infinity."""
    return json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} is not JSON"))


@pytest.mark.parametrize("make", ALL)
def test_every_verdict_keeps_to_the_schema(make):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(strictly(dumps(make())), SCHEMA)


def test_the_schema_refuses_what_a_verdict_is_not():
    document = to_json(verdicts.same())
    for broken in (document | {"verdict": "maybe"}, document | {"more": 1}, document | {"relations": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_nothing_is_left_out():
    document = to_json(verdicts.different())
    assert document["verdict"] == "different"
    assert document["evidence"] == "refuted"
    assert document["divergence"]["left"]["origin"]["line"] == 22
    assert document["divergence"]["effect"]["argmax_changed"] == 2
    assert [edit["edit"] for edit in document["diagnosis"]] == [
        "`eps=1e-05` becomes `1e-06`", "`eps=1e-06` becomes `1e-05`",
    ]
    assert document["diagnosis"][0]["site"]["side"] == "right"
    relation = to_json(verdicts.same())["relations"][-1]
    assert relation["layout"] == "reshape(mm_3, [2, 9, 36])"
    assert relation["proof"] == "p2"
    assert relation["evidence"]["conditions"] == [verdicts.MASK, "Σ_j exp(s[i, j]) ≠ 0"]


def test_the_effect_is_kept_where_no_place_of_divergence_is_known():
    verdict = verdicts.different()
    verdict.divergence = None
    assert to_json(verdict)["divergence"]["effect"]["max_error"] == 3.21e-3
    verdict.effect = None
    assert to_json(verdict)["divergence"] is None


def test_numbers_that_are_not_finite_are_strings():
    verdict = verdicts.same()
    verdict.numeric = [Numeric("y", math.nan, -math.inf, "float16", 1), Numeric("z", math.inf, 0.0, "float16", 1)]
    document = strictly(dumps(verdict))
    assert [row["left_error"] for row in document["numeric"]] == ["NaN", "Infinity"]
    assert document["numeric"][0]["right_error"] == "-Infinity"
    jsonschema.validate(document, SCHEMA)


def test_numbers_of_numpy_and_odd_text_are_written_too():
    verdict = verdicts.same()
    verdict.counts, verdict.timing = {"n": numpy.int64(3)}, {"t": numpy.float32(0.5)}
    verdict.notes = ["−∞ \udc80 \x00 \u2028"]
    text = dumps(verdict)
    assert text.isascii()
    document = strictly(text)
    assert (document["counts"], document["timing"], document["notes"]) == ({"n": 3}, {"t": 0.5}, verdict.notes)


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "verdict.json"
    path.write_text("old")
    require_writable(path)
    assert path.read_text() == "old"
    write(verdicts.same(), path)
    assert strictly(path.read_text())["verdict"] == "same"
    assert os.listdir(tmp_path) == ["verdict.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "verdict.json"
    path.write_text("old")

    def full_disk(self, text, **_):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(SamesameError, match="No space left on device"):
        write(verdicts.same(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["verdict.json"]


def test_a_link_is_followed_and_kept(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    write(verdicts.same(), link)
    assert link.is_symlink()
    assert strictly(real.read_text())["verdict"] == "same"


def test_a_device_is_written_to_and_not_replaced():
    require_writable(Path("/dev/null"))
    write(verdicts.same(), Path("/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    "name, reason",
    [("", "it is a folder"), ("no/such/x.json", "there is no folder"), ("file/x.json", "there is no folder")],
)
def test_an_unwritable_path_is_said_in_one_sentence(tmp_path, name, reason):
    (tmp_path / "file").touch()
    with pytest.raises(SamesameError, match=reason) as caught:
        require_writable(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
