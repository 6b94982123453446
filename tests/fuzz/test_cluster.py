"""Workers on a Ray cluster: the same cases as here, and a machine that is lost costs the case that it was at."""

from __future__ import annotations

import sys

import pytest

from samesame.evidence import SamesameError
from samesame.fuzz.campaign import Settings, fuzz
from samesame.fuzz.cluster import Cluster
from samesame.fuzz.corpus import Corpus


def settings(**given) -> Settings:
    return Settings(backends=("aot_eager",), bisect=False, feedback=False, **given)


def test_where_ray_is_not_installed_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SamesameError, match=r"--ray needs Ray: pip install 'samesame\[ray\]'"):
        fuzz(tmp_path / "found", settings(ray="auto"))
    assert not (tmp_path / "found").exists()


@pytest.fixture
def two_nodes():
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.second = nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()


@pytest.mark.long
def test_a_campaign_on_two_nodes_is_that_of_one_machine(two_nodes, tmp_path):
    there = fuzz(tmp_path / "there", settings(cases=6, jobs=2, ray=two_nodes.address))
    here = fuzz(tmp_path / "here", settings(cases=6))
    assert there.statuses == here.statuses and there.cases == 6
    corpus = Corpus(tmp_path / "there", settings().kept(), resume=True)
    assert corpus.done() == frozenset(range(6))
    corpus.close()


@pytest.mark.long
def test_a_machine_that_is_lost_costs_one_case(two_nodes):
    cluster = Cluster(two_nodes.address, jobs=2)
    workers = [cluster.worker(settings().for_worker()) for _ in range(2)]
    two_nodes.remove_node(two_nodes.second)
    two_nodes.add_node(num_cpus=1)
    asked = {"task": "script", "text": "assert False", "error": "AssertionError"}
    first, again = ([worker.ask(asked)["status"] for worker in workers] for _ in range(2))
    cluster.close()
    assert sorted(first) == ["failed", "fails"] and again == ["fails", "fails"]


@pytest.mark.long
def test_a_cluster_that_does_not_answer_or_is_too_small_is_one_sentence(two_nodes):
    with pytest.raises(SamesameError, match="has 2 processors; give no more --jobs"):
        Cluster(two_nodes.address, jobs=3)
    with pytest.raises(SamesameError, match=r"no Ray cluster answers at 127\.0\.0\.1:1: .*refused"):
        Cluster("127.0.0.1:1", jobs=1)
