"""Programs and inputs are found by name, and what is wrong with a name is said in one sentence."""

import pytest
import torch
from torch import nn

from samesame.capture import capture, load_inputs, load_target, save_graph
from samesame.evidence import Refused
from samesame.graph import Graph

FILE = """
import torch
from helper import scale

def double(x):
    return x * scale

class Layer(torch.nn.Linear):
    def __init__(self, size=2):
        super().__init__(size, size)

def make():
    return Layer(3)

def needs(size):
    return Layer(size)

class Needs(torch.nn.Module):
    def __init__(self, size):
        super().__init__()

module = Layer()
inputs = (torch.ones(2),)
number = 3

def draw():
    return {"x": torch.zeros(2)}

def broken():
    return [][0]

class Holder:
    double = staticmethod(double)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    (tmp_path / "helper.py").write_text("scale = 2\n")
    (tmp_path / "model.py").write_text(FILE)
    (tmp_path / "bad.py").write_text("import torch\nimport not_a_package\n")
    (tmp_path / "worse.py").write_text("x = (\n")
    (tmp_path / "targets_package").mkdir()
    (tmp_path / "targets_package" / "__init__.py").write_text("")
    (tmp_path / "targets_package" / "part.py").write_text("def triple(x):\n    return x * 3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "model.py"


def test_functions_modules_classes_and_factories(file):
    assert load_target(f"{file}:double")(3) == 6
    assert load_target(f"{file}:Holder.double")(3) == 6
    assert isinstance(load_target(f"{file}:module"), nn.Linear)
    assert load_target(f"{file}:Layer").in_features == 2
    assert load_target(f"{file}:make").in_features == 3
    assert load_target("targets_package.part:triple")(3) == 9


def test_a_file_is_imported_once(file):
    assert load_target(f"{file}:module") is load_target("model.py:module")


def test_the_same_target_has_the_same_weights_each_time(file):
    state = torch.random.get_rng_state()
    first, second = load_target(f"{file}:Layer"), load_target(f"{file}:Layer")
    assert first is not second and torch.equal(first.weight, second.weight)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_saved_graph_is_a_target(file):
    graph = capture(load_target(f"{file}:double"), (torch.ones(2),))
    save_graph(graph, "saved.json.gz")
    assert isinstance(load_target("saved.json.gz"), Graph)


def test_inputs_are_a_tuple_a_dict_or_a_function(file):
    assert torch.equal(load_inputs(f"{file}:inputs")[0], torch.ones(2))
    assert torch.equal(load_inputs(f"{file}:draw")["x"], torch.zeros(2))
    assert load_inputs([torch.ones(2), 1])[1] == 1
    assert len(load_inputs(torch.ones(2))) == 1


@pytest.mark.parametrize(
    "target, message",
    [
        ("gone.py:double", "^gone.py does not exist"),
        ("model.py:duble", "^model.py has no duble; it has double"),
        ("model.py:Holder.triple", "^model.py has no Holder.triple; it has double$"),
        ("bad.py:x", "^bad.py cannot be imported: bad.py:2 raises ModuleNotFoundError: No module named 'not_a"),
        ("worse.py:x", "^worse.py cannot be imported: worse.py:1 raises SyntaxError"),
        ("model.py:number", "^model.py:number is an int, not a module or a function over tensors"),
        ("model.py:broken", "^model.py:broken fails: model.py:30 raises IndexError"),
        ("model.py:Needs", "^model.py:Needs asks for .*; name a function without arguments"),
        ("model.py", "^model.py is a file of programs; add the name of one"),
        ("targets_package.gone:x", "^targets_package.gone cannot be imported: ModuleNotFoundError"),
        ("model:double.", "has no double."),
        ("gone.json", "^gone.json does not exist"),
    ],
)
def test_what_is_wrong_with_a_target(file, target, message):
    with pytest.raises(Refused, match=message):
        load_target(target)


def test_what_is_wrong_with_inputs(file):
    with pytest.raises(Refused, match=r"model.py:number is an int; give a tuple"):
        load_inputs("model.py:number")
    with pytest.raises(Refused, match=r"model.py:broken fails"):
        load_inputs("model.py:broken")
