"""A Ray cluster of two nodes on this machine: the same tasks as here, whatever becomes of a node; and what one says
that does not answer, or whose code is other than ours."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from samesame.cli import app
from samesame.evidence import SamesameError
from samesame.fuzz.campaign import Settings, fuzz
from samesame.fuzz.corpus import Corpus
from samesame.work import cluster as cluster_module
from samesame.work.cluster import Cluster
from samesame.work.crew import Crew
from samesame.work.tasks import Task

NUMBERS = "sweep_fakes:numbers", ("",)


@pytest.mark.parametrize("run", [
    lambda folder: Cluster("auto", 1, *NUMBERS),
    lambda folder: fuzz(folder / "found", Settings(backends=("aot_eager",), ray="auto")),
], ids=["a crew", "a campaign"])
def test_where_ray_is_not_installed_one_sentence_says_so(tmp_path, monkeypatch, run):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SamesameError, match=r"--ray needs Ray: pip install 'samesame\[ray\]'"):
        run(tmp_path)
    assert not (tmp_path / "found").exists()


@pytest.fixture
def nodes():
    """Two nodes with one processor each."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'samesame[ray]'")
    from ray.cluster_utils import Cluster as Nodes

    found = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    found.second = found.add_node(num_cpus=1)
    yield found
    found.shutdown()


@pytest.mark.long
def test_a_node_that_is_lost_in_the_middle_loses_nothing_and_nothing_is_done_twice(nodes, tmp_path):
    done = []
    with Crew([Cluster(nodes.address, None, NUMBERS[0], (str(tmp_path),))]) as crew:
        for found in crew.results(Task(str(n), [0.3, n]) for n in range(24)):
            done.append(found.task.key)
            if len(done) == 8:
                nodes.remove_node(nodes.second)
                nodes.add_node(num_cpus=1)
    assert sorted(map(int, done)) == [*range(24)]
    made = Counter(path.name.partition("-")[0] for path in tmp_path.iterdir())
    assert made.keys() == set(done) and made.total() <= 25, "only what the lost node was at may have been done again"


@pytest.mark.long
def test_what_goes_wrong_there_goes_wrong_as_here(nodes):
    with Crew([Cluster(nodes.address, 2, *NUMBERS)]) as crew:
        tasks = [Task(name, name, limit=20.0) for name in ("crash", "raise", "print and exit", "hang")]
        found = {done.task.content: done.result.why for done in crew.results(tasks)}
    assert found == {
        "crash": "the process that ran it was ended by SIGSEGV, twice",
        "raise": "this is a defect of samesame, not a verdict: ValueError: no such thing",
        "print and exit": "the process that ran it ended with exit code 3, twice",
        "hang": "it was ended after 20 s; give it more time, or make it smaller",
    }


@pytest.mark.long
def test_a_cluster_that_is_too_small_or_runs_other_code_is_one_sentence(nodes, monkeypatch):
    with pytest.raises(SamesameError, match="has 2 processors; give no more --jobs"):
        Cluster(nodes.address, 3, *NUMBERS)
    unloaded = Cluster(nodes.address, 1, "no_such_module:f", ())
    with Crew([unloaded]) as crew, pytest.raises(SamesameError, match="while it loaded the libraries"):
        list(crew.results([Task("", 1)]))
    with Crew([Cluster(nodes.address, 1, *NUMBERS)]) as crew:
        monkeypatch.setattr(cluster_module, "versions", lambda: ("another", "another"))
        message = r"samesame's provers \S+ on the cluster at \S+, and another here; install the same on every machine"
        with pytest.raises(SamesameError, match=message):
            list(crew.results([Task("", 1)]))


@pytest.mark.parametrize("says, message", [
    (None, r"no Ray cluster answers at 127\.0\.0\.1:\d+: .*refused"),
    (b"", r"no Ray cluster answers at 127\.0\.0\.1:\d+: timed out; start one with `ray start --head`"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", r"no Ray cluster answers at 127\.0\.0\.1:\d+: what answers there is no Ray"),
], ids=["nobody listens", "nobody speaks", "somebody else"])
def test_what_does_not_answer_is_one_sentence_at_once(monkeypatch, says, message):
    monkeypatch.setitem(sys.modules, "ray", object())
    monkeypatch.setattr(cluster_module, "ANSWERING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if says is None:
            server.close()
        else:
            threading.Thread(target=answer, args=(server, says), daemon=True).start()
        with pytest.raises(SamesameError, match=message):
            Cluster(f"127.0.0.1:{port}", 1, *NUMBERS)


@pytest.mark.parametrize("words", ["suite suite.toml --store -", "fuzz --backend aot_eager",
                                   "sweep hf:config.json vllm:config.json --only mlp_bias --store -",
                                   "lift kernels.py"])
def test_a_command_whose_cluster_does_not_answer_ends_with_2(tmp_path, monkeypatch, words):
    monkeypatch.setitem(sys.modules, "ray", object())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.toml").write_text('[[check]]\nfile = "pair.py"\n')
    (tmp_path / "config.json").write_text('{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}')
    (tmp_path / "kernels.py").write_text("")
    files = {*tmp_path.iterdir()}
    found = CliRunner().invoke(app, [*words.split(), "--ray", "127.0.0.1:1"])
    told = "samesame: no Ray cluster answers at 127.0.0.1:1: "
    assert found.exit_code == 2 and found.stderr.startswith(told) and len(found.stderr.splitlines()) == 1
    assert {*tmp_path.iterdir()} == files


def answer(server, says):
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.sendall(says)
        while connection.recv(1000):
            pass


@pytest.mark.long
def test_a_campaign_on_two_nodes_is_that_of_one_machine(nodes, tmp_path):
    quick = dict(backends=("aot_eager",), bisect=False, feedback=False, cases=6)
    there = fuzz(tmp_path / "there", Settings(**quick, jobs=2, ray=nodes.address))
    here = fuzz(tmp_path / "here", Settings(**quick))
    assert there.statuses == here.statuses and there.cases == 6
    corpus = Corpus(tmp_path / "there", Settings(**quick).kept(), resume=True)
    assert corpus.done() == frozenset(range(6))
    corpus.close()
