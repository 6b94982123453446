"""A saved graph comes back as it was, and a damaged file is named."""

import json

import pytest
import torch
from torch import nn

from samesame.capture import capture, load_graph, save_graph
from samesame.evidence import Refused
from samesame.graph.text import to_json


class Program(nn.Module):
    """Parameters, buffers, literals; several results; infinite, complex and boolean arguments and tensors."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(8.0).view(2, 4).t())
        self.register_buffer("turn", torch.polar(torch.ones(2), torch.tensor([0.1, 0.2])))

    def forward(self, x, keep):
        y = (x @ self.weight).masked_fill(~keep, float("-inf"))
        top = y.topk(2)
        return {"turned": y.exp() * self.turn, "top": top.values.to(torch.bfloat16), "which": top.indices}


@pytest.fixture
def graph():
    return capture(Program(), (torch.ones(3, 4), torch.tensor([[True, False]] * 3)))


@pytest.mark.parametrize("name", ["saved.json", "saved.json.gz"])
def test_graphs_come_back_as_they_were(graph, tmp_path, name):
    save_graph(graph, tmp_path / name)
    loaded = load_graph(tmp_path / name)
    assert to_json(loaded) == to_json(graph)
    assert set(loaded.tensors) == set(graph.tensors)
    for key, tensor in graph.tensors.items():
        assert loaded.tensors[key].dtype == tensor.dtype
        assert torch.equal(loaded.tensors[key], tensor)


def test_a_graph_without_tensors_can_be_saved(tmp_path):
    graph = capture(lambda x: torch.arange(3), (torch.ones(2),))
    save_graph(graph, tmp_path / "saved.json")
    assert list(load_graph(tmp_path / "saved.json").tensors) == ["x"]


def break_json(path, beside):
    path.write_text("{")


def change_version(path, beside):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 7}))


def drop_tensors(path, beside):
    beside.unlink()


def cut_tensors(path, beside):
    beside.write_bytes(beside.read_bytes()[:40])


def other_file(path, beside):
    path.write_text('{"a": 1}')


@pytest.mark.parametrize(
    "damage, message",
    [
        (break_json, r"saved.json is no saved graph, or a damaged one: Expecting"),
        (change_version, "saved.json: the graph has version 7, and this samesame reads version 1"),
        (drop_tensors, "saved.safetensors does not exist"),
        (cut_tensors, "saved.safetensors holds no tensors, or is damaged"),
        (other_file, "saved.json: this is no saved graph"),
    ],
)
def test_a_damaged_file_is_named(graph, tmp_path, damage, message):
    path = tmp_path / "saved.json"
    save_graph(graph, path)
    damage(path, tmp_path / "saved.safetensors")
    with pytest.raises(Refused, match=message):
        load_graph(path)


def test_a_tensor_that_is_not_there_is_named(graph, tmp_path):
    save_graph(graph, tmp_path / "saved.json")
    other = capture(lambda x: x, (torch.ones(2),))
    save_graph(other, tmp_path / "other.json")
    (tmp_path / "other.safetensors").rename(tmp_path / "saved.safetensors")
    with pytest.raises(Refused, match=r"saved.safetensors lacks the tensor of keep"):
        load_graph(tmp_path / "saved.json")


def test_names_and_folders_that_do_not_fit(graph, tmp_path):
    with pytest.raises(Refused, match=r"graph.txt is no name for a graph; end it with .json or .json.gz"):
        save_graph(graph, tmp_path / "graph.txt")
    with pytest.raises(Refused, match=r"cannot write .*gone/graph.json: No such file"):
        save_graph(graph, tmp_path / "gone" / "graph.json")
