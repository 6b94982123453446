"""A suite's file is read as it is meant, and each mistake in it has a sentence."""

from __future__ import annotations

import pytest

from samesame.evidence import SamesameError
from samesame.suite.entries import read_suite

PAIR = '[[check]]\nleft = "a.py:f"\nright = "b.py:g"\n'
LIFT = '[[lift]]\ntarget = "k.py:launch"\n'


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "suite.toml").write_text(text)
        return read_suite(tmp_path / "suite.toml")

    return read


def test_entries_come_in_the_order_of_the_file_with_their_defaults(read):
    found = read(f'[defaults]\ntimeout = 9\nat_least = "proved"\n{LIFT}{PAIR}[[check]]\nfile = "p.py"\n'
                 'expect = "different"\ntimeout = 2.5\n')
    assert [(entry.verb, entry.name, entry.line, entry.expect, entry.timeout, entry.at_least) for entry in found] == [
        ("lift", "k.py:launch", 4, "verified", 9.0, ""),
        ("check", "a.py:f and b.py:g", 6, "same", 9.0, "proved"),
        ("check", "p.py:left and p.py:right", 9, "different", 2.5, ""),
    ]
    assert dict(found[2].options) == {"left": "p.py:left", "right": "p.py:right", "inputs": "p.py:inputs"}


@pytest.mark.parametrize("text, said", [
    ("", "suite.toml has no entries; add one that begins with"),
    ("[[check", "suite.toml is no TOML: "),
    ("[[chekc]]\n", r"has 'chekc'; give check, refine or lift \(did you mean 'check'\?\)"),
    ("[check]\n", r"check is one table; write \[\[check\]\] with two brackets"),
    (f"{PAIR}expects = 'same'\n", r"suite.toml:1: there is no 'expects'; .*\(did you mean 'expect'\?\)"),
    (f"{PAIR}expect = 'identical'\n", "suite.toml:1: expect is 'identical'; give same, different or undecided"),
    (f"{LIFT}expect = 'same'\n", "expect is 'same'; give verified, violated or undecided"),
    (f"{PAIR}at_least = 'prooved'\n", r"at_least is 'prooved'; .*\(did you mean 'proved'\?\)"),
    (f"{PAIR}at_least = 'tested'\nexpect = 'different'\n", "at_least is about evidence for same"),
    ("[[check]]\nleft = 'a.py:f'\n", "suite.toml:1: a check entry needs right"),
    (f"{PAIR}seed = '1'\n", "seed is '1'; give a whole number"),
    (f"{PAIR}tiny = 1\n", "tiny is 1; give true or false"),
    (f"{PAIR}seed = true\n", "seed is True; give a whole number"),
    (f"{PAIR}timeout = 0\n", "timeout is 0; give a number of seconds above 0"),
    (f"{PAIR}ignore = ['dtyp']\n", r"ignore has 'dtyp'; .*\(did you mean 'dtype'\?\)"),
    (f"{PAIR}ignore = 'dtype'\n", "ignore is 'dtype'; give a list of texts"),
    (f"{PAIR}file = 'p.py'\n", "file names left, right and inputs; leave out left and right"),
    (f"{PAIR}\n{PAIR}", "suite.toml:5: the entry of line 1 is called 'a.py:f and b.py:g', too"),
    (f"[defaults]\njobs = 1\n{PAIR}", r"\[defaults\]: there is no 'jobs'; give timeout, seed or at_least"),
    ("defaults = 1\n", r"\[defaults\] is no table"),
    ("check = 1\n", "check is one table"),
])
def test_a_mistake_has_a_sentence(read, text, said):
    with pytest.raises(SamesameError, match=said):
        read(text)


def test_a_file_that_cannot_be_read_has_a_sentence(tmp_path):
    with pytest.raises(SamesameError, match=r"cannot read .*no\.toml: No such file or directory; give a TOML file"):
        read_suite(tmp_path / "no.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SamesameError, match="it is no text"):
        read_suite(tmp_path / "binary.toml")
