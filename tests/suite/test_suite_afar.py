"""What another machine says is the same counts when its certificate holds here, for the programs that lie here."""

import copy

import pytest

from samesame.certificate.replay import digest
from samesame.check import check
from samesame.report.answers import HOLDS, OPEN, of_check, to_form
from samesame.report.html.page import page
from samesame.suite import asking, verb
from samesame.suite.entries import read_suite
from samesame.suite.kept import Kept
from samesame.suite.verb import CHECKED, ELSEWHERE, suite
from samesame.work.reads import Reads
from samesame.work.tasks import Done, NotAccepted

PAIR = """
import torch

def left(x):
    return torch.softmax(x, -1)

def right(x):
    return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)

def doubled(x):
    return 2 * torch.softmax(x, -1)

def single(x):
    return torch.softmax(x, -1).double()

inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""
SUITE = """
[[check]]
name = "softmax"
file = "pair.py"

[[check]]
name = "doubled"
left = "pair.py:left"
right = "pair.py:doubled"
inputs = "pair.py:inputs"
expect = "different"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pair.py").write_text(PAIR)
    (tmp_path / "suite.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def told():
    """The answer of a machine that is right, and its certificate."""
    space: dict = {}
    exec(PAIR, space)
    verdict = check(space["left"], space["right"], space["inputs"], certify=True)
    return to_form(of_check(verdict)), verdict.certificate


def arrived(folder, told, **changed):
    entry = read_suite(folder / "suite.toml")[0]
    entry = type(entry)(**{**{name: getattr(entry, name) for name in entry.__slots__},
                           "options": {**entry.options, **changed}})
    reads = Reads(0.0, {})
    found = asking.arrived(entry, reads, *told)
    assert reads.over
    return found


def sealed(certificate):
    """With the seal of what it says now."""
    return {**certificate, "seal": digest({key: part for key, part in certificate.items() if key != "seal"})}


def test_what_holds_is_accepted_and_says_what_was_checked(folder, told):
    found = arrived(folder, told)
    assert found.verdict == "same" and found.state == HOLDS
    line = "every output proved for all sizes: x [B, T] for every B ≥ 2, T ≥ 2"
    assert f"its certificate, replayed here\n  checked   {line}" in found.report


@pytest.mark.parametrize("right, message", [
    ("pair.py:doubled", "the right graph given is another than certified"),
    ("pair.py:single", "here the programs differ: output 0 is float32 on the left and float64"),
])
def test_a_certificate_of_other_programs_is_not_accepted(folder, told, right, message):
    with pytest.raises(NotAccepted, match=message):
        arrived(folder, told, right=right)


def test_a_certificate_that_was_changed_is_not_accepted(folder, told):
    answer, certificate = copy.deepcopy(told)
    certificate["steps"] = certificate["steps"][:-1]
    with pytest.raises(NotAccepted, match="does not hold here: the certificate was changed"):
        arrived(folder, (answer, certificate))
    with pytest.raises(NotAccepted, match="its certificate does not hold here"):
        arrived(folder, (answer, sealed(certificate)))


def test_an_answer_on_better_evidence_than_its_certificate_is_not_accepted(folder, told):
    answer, certificate = copy.deepcopy(told)
    certificate["evidence"] = "proved at these sizes"
    with pytest.raises(NotAccepted, match="says proved at these sizes, and its answer proved for all sizes"):
        arrived(folder, (answer, sealed(certificate)))


@pytest.fixture
def asked(folder, told):
    """A suite that is being asked on a cluster: what to do about a result, and the rows so far."""
    entries = read_suite(folder / "suite.toml")
    found = verb._Asking(verb.Suite(folder / "suite.toml", entries), Kept(), {e.name: e.name for e in entries}, True,
                         folder / "pages")

    def answered(number, answer, certificate=None, here=False, files=(), drawn=None, **more):
        reads = {"files": dict(files), "unseen": ""}
        task = found.task(entries[number], **more)
        result = {"answer": answer, "certificate": certificate, "reads": reads, "libraries": {}, "page": drawn}
        result = {"refused": "it does not hold"} if answer is None else result
        return [*found.answered(entries[number], Done(task, result, 1.0, here))], found.rows

    return answered


def test_what_is_the_same_elsewhere_is_checked_here_first(asked, told):
    [task], rows = asked(0, *told)
    assert task.here and task.content["arrived"] == {"answer": told[0], "certificate": told[1]} and not rows
    follow, rows = asked(0, told[0], here=True, arrived=task.content["arrived"])
    assert not follow and rows["softmax"].state == HOLDS and rows["softmax"].told == CHECKED


def test_the_page_that_another_machine_drew_is_shown_once_its_answer_counts(asked, told, folder):
    drawn, pages = page("page.html", title="drawn"), folder / "pages"
    [task], _ = asked(0, *told, drawn=drawn)
    assert not pages.exists()
    asked(0, told[0], here=True, arrived=task.content["arrived"])
    assert [found.read_text() for found in pages.iterdir()] == [drawn]
    different = {**told[0], "verdict": "different", "evidence": "refuted", "state": "fails"}
    asked(1, different, files=[("/elsewhere", "other")], drawn=drawn)
    assert len([*pages.iterdir()]) == 1, "what read other files has none"
    asked(1, different, drawn=drawn)
    assert len([*pages.iterdir()]) == 2


def test_what_is_the_same_without_a_certificate_is_asked_again_here(asked, told):
    [task], rows = asked(0, told[0])
    assert task.here and "arrived" not in task.content and not rows


def test_what_is_not_accepted_is_no_verdict(asked, told):
    _, rows = asked(0, None, here=True, arrived={"answer": told[0], "certificate": told[1]})
    row = rows["softmax"]
    assert row.state == OPEN and row.why == "not accepted, expected same" and row.told == ELSEWHERE
    assert row.answer.headline == ("same, proved for all sizes, says a machine of the cluster, but it does not hold")


@pytest.mark.parametrize("digest, state", [("other", OPEN), (None, HOLDS)])
def test_a_difference_counts_where_the_files_there_are_those_that_lie_here(asked, told, folder, digest, state):
    from samesame.work.reads import digest as digest_here

    file = str(folder / "pair.py")
    different = {**told[0], "verdict": "different", "evidence": "refuted", "state": "fails"}
    _, rows = asked(1, different, files=[(file, digest or digest_here(file))])
    assert rows["doubled"].state == state and rows["doubled"].told == ELSEWHERE


@pytest.mark.long
def test_a_suite_on_two_nodes_is_that_of_one_machine_though_a_node_is_lost(folder):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'samesame[ray]'")
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    second = nodes.add_node(num_cpus=1)
    entries = "".join(SUITE.replace("softmax", f"softmax {n}").replace("doubled\"\nleft", f"doubled {n}\"\nleft")
                      for n in range(4))
    (folder / "suite.toml").write_text(entries)
    lost = []

    def lose(progress):
        if progress.done and not lost:
            lost.append(nodes.remove_node(second))
            nodes.add_node(num_cpus=1)

    try:
        there = suite(folder / "suite.toml", ray=nodes.address, jobs=None, progress=lose, pages=folder / "pages")
    finally:
        nodes.shutdown()
    assert not any(row.not_kept for row in there.rows)
    assert all("drawn on a machine of the cluster" in page.read_text() for page in (folder / "pages").iterdir())
    assert len([*(folder / "pages").iterdir()]) == len(there.rows)
    here = suite(folder / "suite.toml")
    assert lost and [(row.entry.name, row.state, row.answer.verdict) for row in there.rows] == [
        (row.entry.name, row.state, row.answer.verdict) for row in here.rows]
    assert {row.told for row in there.rows} == {CHECKED, ELSEWHERE} and there.exit_code == 0
