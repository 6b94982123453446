"""`samesame replay`: what it says of certificates that hold, of those that do not, and of what is none."""

from __future__ import annotations

import gzip
import json
import sys
from itertools import product
from types import SimpleNamespace

import pytest

from samesame import cli
from samesame.certificate.replay import LADDER, Broken, _Replay, digest

PAIR = """
import torch
from torch import nn


class Left(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.norm = nn.Linear(6, 4), nn.Linear(6, 4), nn.RMSNorm(6, elementwise_affine=False)

    def forward(self, x):
        x = self.norm(x)
        return torch.cat([self.a(x), self.b(x)], -1) * 8**-0.5, x


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        left = Left()
        self.ab = nn.Parameter(torch.cat([left.a.weight, left.b.weight]).detach().{transform})
        self.bias = nn.Parameter(torch.cat([left.a.bias, left.b.bias]).detach())

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + torch.finfo(torch.float32).eps)
        return nn.functional.linear(x, self.ab, self.bias) / 8**0.5, x


class Fixed(Right):
    def forward(self, x):
        return super().forward(x.reshape(2, 3, 6))


inputs = (torch.linspace(-1, 1, 36).reshape(2, 3, 6),)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Certificates over size symbols and at these sizes, and the graphs they are about."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "pair.py").write_text(PAIR.format(transform="clone()"))
    (folder / "other.py").write_text(PAIR.format(transform="mul(2)"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for right in ("Right", "Fixed"):
            run(patch, "check", "pair.py:Left", f"pair.py:{right}", "--inputs", "pair.py:inputs", "--store", "-",
                "--certificate", f"{right}.json", "-q")
            run(patch, "graph", f"pair.py:{right}", "--save", f"{right}.graph.json.gz")
        run(patch, "graph", "pair.py:Left", "--save", "Left.graph.json.gz")
        run(patch, "graph", "other.py:Right", "--save", "other.graph.json.gz")
    return folder


def run(patch, *arguments: str) -> int:
    patch.setattr(sys, "argv", ["samesame", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return left.value.code


@pytest.fixture
def replay(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def go(*arguments: str) -> tuple[int, str, str]:
        return run(monkeypatch, "replay", *arguments), *capsys.readouterr()

    return go


@pytest.mark.parametrize("right, evidence", [("Right", "proved for all sizes"), ("Fixed", "proved at these sizes")])
def test_it_holds_and_is_about_the_graphs_given(replay, folder, right, evidence):
    code, out, _ = replay(f"{right}.json")
    assert code == 0 and out.startswith("holds") and f"every output {evidence}: x [" in out
    assert "that the right weight ab is the layout of left weights it is said to be" in out
    code, out, _ = replay(f"{right}.json", "--graphs", "Left.graph.json.gz", f"{right}.graph.json.gz")
    assert code == 0 and "both graphs and their tensors against the files given" in out
    assert "right weight" not in out


@pytest.mark.parametrize("graphs, why", [
    (("Right.graph.json.gz", "Left.graph.json.gz"), "the left graph given is another than certified"),
    (("Left.graph.json.gz", "Left.graph.json.gz"), "the right graph given is another than certified"),
    (("Left.graph.json.gz", "other.graph.json.gz"), "ab of the right graph given holds other values"),
])
def test_other_graphs_or_weights_are_told_apart(replay, graphs, why):
    code, out, err = replay("Right.json", "--graphs", *graphs)
    assert code == 1 and why in out and len(out.strip().splitlines()) == 1 and not err


def test_the_example_of_another_size_is_another_graph(replay, folder):
    """The certificate holds for every size, and says at which one the graphs were taken."""
    form = json.loads((folder / "Right.json").read_text())
    assert form["sizes"]
    name = min(form["sizes"])
    form["sizes"][name] += 1
    form["seal"] = digest({key: value for key, value in form.items() if key != "seal"})
    (folder / "larger.json").write_text(json.dumps(form))
    assert replay("larger.json")[0] == 0
    code, out, _ = replay("larger.json", "--graphs", "Left.graph.json.gz", "Right.graph.json.gz")
    assert code == 1 and "is another than certified" in out


def test_a_certificate_that_was_changed_does_not_hold(replay, folder):
    form = json.loads((folder / "Right.json").read_text())
    (folder / "changed.json").write_text(json.dumps({**form, "evidence": "tested"}))
    code, out, err = replay("changed.json")
    assert (code, out, err) == (1, "does not hold   the certificate was changed\n", "")


MALFORMED = {
    "no steps": (lambda form: form.pop("steps"), "the certificate lacks 'steps'"),
    "steps that are a text": (lambda form: form.update(steps="x"), "'steps' of the certificate is not a list"),
    "a step of one part": (lambda form: form["steps"].insert(0, {"kind": "?"}), "step 1 is not [term, term, reason]"),
    "a step without a reason": (lambda form: form["steps"][0].__setitem__(2, {"proof": "P1"}),
                                "the reason of step 1 lacks 'terms'"),
    "a step beyond the terms": (lambda form: form["steps"][0].__setitem__(0, 10**6),
                                "step 1 names a term that is not there"),
    "a term of three": (lambda form: form["terms"][0].pop(), "term 0 is not [operator, attributes, arguments, type]"),
    "a side that is null": (lambda form: form.update(left=None), "'left' of the certificate is not an object"),
    "no block": (lambda form: next(iter(form["proofs"].values())).pop("block"), "lacks 'block'"),
    "a size without bounds": (lambda form: form["region"].update(bounds=dict.fromkeys(form["sizes"])),
                              "something is not as `check --certificate` writes it"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_a_sealed_certificate_lacks_is_said(replay, folder, what):
    spoil, why = MALFORMED[what]
    form = json.loads((folder / "Right.json").read_text())
    spoil(form)
    form["seal"] = digest({key: value for key, value in form.items() if key != "seal"})
    (folder / "spoilt.json").write_text(json.dumps(form))
    code, out, err = replay("spoilt.json")
    assert (code, err) == (1, "") and out.startswith("does not hold   the certificate is malformed: ") and why in out
    assert len(out.splitlines()) == 1 and "Error" not in out and "_Replay" not in out


def test_a_gzipped_certificate_is_read(replay, folder):
    (folder / "c.json.gz").write_bytes(gzip.compress((folder / "Right.json").read_bytes()))
    assert replay("c.json.gz")[0] == 0


UNUSABLE = {
    "no such file": None,
    "empty": b"",
    "not JSON": b"proof: trust me",
    "not text": b"\xff\xfe\x00",
    "truncated gzip": gzip.compress(b'{"format": "samesame certificate"}' * 50)[:-20],
    "damaged gzip": b"\x1f\x8bnonsense",
    "deep nesting": b"[" * 200_000,
    "another program's JSON": b'{"name": "package", "version": "1.0"}',
    "a list": b"[1, 2]",
    "a newer version": b'{"format": "samesame certificate", "version": 99}',
}


@pytest.mark.parametrize("what", [*UNUSABLE, "a directory"])
def test_what_is_no_certificate_is_unusable_input(replay, folder, tmp_path, what):
    path = tmp_path / "c.json"
    if what == "a directory":
        path.mkdir()
    elif UNUSABLE[what] is not None:
        path.write_bytes(UNUSABLE[what])
    code, out, err = replay(str(path))
    assert code == 2 and not out
    lines = err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"samesame: {path}: ") and "defect" not in lines[0]


def test_a_graph_that_cannot_be_read_is_unusable_input(replay):
    code, out, err = replay("Right.json", "--graphs", "Left.graph.json.gz", "none.json")
    assert code == 2 and not out and "none.json" in err and len(err.strip().splitlines()) == 1
    code, out, err = replay("Right.json", "--graphs", "Right.json", "Right.json")
    assert code == 2 and not out and len(err.strip().splitlines()) == 1


def test_a_verdict_without_a_certificate_says_so(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    code = run(monkeypatch, "check", "pair.py:Left", "other.py:Right", "--inputs", "pair.py:inputs", "--store", "-",
               "--certificate", "none.json", "-q")
    assert code == 1 and not (folder / "none.json").exists()
    assert "only a verdict of same without restriction has one" in capsys.readouterr().err


def test_a_certificate_claims_no_more_than_the_weakest_of_its_proofs():
    whole = SimpleNamespace(form={"sizes": {"B": 2}, "not_followed": []})
    for claimed, *proofs in product(LADDER[1:], repeat=3):
        if LADDER.index(claimed) <= min(map(LADDER.index, proofs)):
            _Replay.rungs(whole, claimed, proofs)
        else:
            with pytest.raises(Broken, match=f"only, not {claimed}"):
                _Replay.rungs(whole, claimed, proofs)
