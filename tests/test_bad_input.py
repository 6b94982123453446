"""What cannot be compared is refused in one sentence that names the place; what can be, is, whatever its dtype."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import torch

from samesame import cli
from samesame.capture import capture, save_graph

HEAD = "import random\nimport numpy\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
INPUTS = "inputs = (torch.linspace(-1, 1, 3),)\n"
SAME = "def right(x):\n    return x\n\n\n" + INPUTS


@pytest.fixture
def samesame(tmp_path, monkeypatch, capsys):
    """Write a file `pair.py` and check it, or run the arguments given: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(source: str, *arguments: str, name: str = "pair.py") -> tuple[int, str, str]:
        (tmp_path / name).write_text(HEAD + source)
        monkeypatch.setattr(sys, "argv", ["samesame", *(arguments or ("check", name))])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code, *capsys.readouterr()

    return run



def returning(value: str) -> str:
    """A left program of two lines."""
    return f"def left(x):\n    return {value}\n\n\n"


# The first line of each program is line 7 of its file.
REFUSED = {
    "outputs in another number": (
        returning("x, x + 1") + SAME,
        r"left returns 2 outputs \(0, 1\) and right returns 1 output \(0\); make both",
    ),
    "outputs of another shape": (returning("x[None]") + SAME, r"output 0 is float32\[1, 3\] on the"),
    "syntax": ("def left(x:\n    return x\n", r"pair.py cannot be imported: pair.py:7 raises SyntaxError"),
    "import": ("import no_such_module\n", r"pair.py:7 raises ModuleNotFoundError: No module named 'no_such_module'"),
    "exception at import": ("{}['a']\n", r"pair.py cannot be imported: pair.py:7 raises KeyError: 'a'"),
    "a name nearly right": ("def Left(x):\n    return x\n\n\n" + SAME, r"pair.py has no left; it has Left"),
    "no callable": ("left = 3\n" + SAME, r"pair.py:left is an int, not a module or a function"),
    "inputs raise": (
        "def left(x):\n    return x\n\n\nright = left\n\n\ndef inputs():\n    raise ValueError('no data\\nmore')\n",
        r"pair.py:inputs fails: pair.py:15 raises ValueError: no data$",
    ),
    "inputs of a wrong type": (returning("x") + "right, inputs = left, 3.5\n", r"inputs is a float; give a"),
    "inputs return nothing": (
        "def left(x):\n    return x\n\n\nright = left\n\n\ndef inputs():\n    pass\n",
        r"pair.py:inputs returns None; give a tuple",
    ),
    "inputs ask for arguments": (
        "def left(x):\n    return x\n\n\nright = left\n\n\ndef inputs(n):\n    pass\n",
        r"pair.py:inputs asks for n; name a function without arguments",
    ),
    "inputs that are empty": (returning("x") + "right, inputs = left, ()\n", r"do not fit left\(x\): missing"),
    "inputs without memory": (
        "inputs = lambda: torch.zeros(10**14)\n\n\ndef left(x):\n    return x\n\n\nright = left\n",
        r"pair.py:7: not enough memory",
    ),
    "a class that asks for arguments": (
        "class left(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n\n\n" + SAME,
        r"pair.py:left asks for config; name a function without arguments",
    ),
    "NaN in an input": (
        returning("x") + "right, inputs = left, torch.tensor([1.0, float('nan')])\n",
        r"input x holds NaN",
    ),
    "NaN in a weight": (
        "class left(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.full((3,), torch.nan))\n\n"
        "    def forward(self, x):\n        return x * self.w\n\n\n" + SAME,
        r"the parameter w of left holds NaN",
    ),
    "NaN made by the program": (
        "def left(x):\n    y = x.abs() - 10\n    return y.log() + 1\n\n\n" + SAME,
        r"left computes NaN in output 0: aten.log.default makes it first, at pair.py:9; give inputs",
    ),
    "a branch": (returning("x if x.sum() > 0 else -x") + SAME, r"pair.py:8 uses a tensor as a condition"),
    "a number's place": (returning("x[x[0].long().argmax()]") + SAME,
                         r"pair.py:8 indexes with a number that a tensor holds, so .*; index with i.view\(1\)"),
    "item": (returning("x * x.max().item()") + SAME, r"pair.py:8 calls .item\(\) on a tensor"),
    "nonzero": (returning("x.nonzero()") + SAME, r"pair.py:8 makes 0 of rows that data chose, so its shape"),
    "a mask": (returning("x[x > 0].sort().values.sum()") + SAME, r"pair.py:8 sorts rows that data chose"),
    "dropout": (
        "left = nn.Sequential(nn.Dropout(0.1))\n\n\n" + SAME,
        r"the module 0 draws random numbers \(native_dropout\), so no two runs agree; call .eval\(\)",
    ),
    "rand": (returning("x + torch.rand(3)") + SAME, r"pair.py:8 draws random numbers \(rand\)"),
    "Python's random numbers": (returning("x * random.random()") + SAME, r"left draws random numbers"),
    "numpy's random numbers": (
        returning("x * float(numpy.random.rand())") + SAME,
        r"left draws random numbers",
    ),
    "memory": ("def left(x):\n    raise torch.OutOfMemoryError('CUDA')\n\n\n" + SAME, r"not enough memory to run"),
    "memory of Python": ("def left(x):\n    raise MemoryError\n\n\n" + SAME, r"not enough memory to run"),
    "memory of torch": (returning("x + torch.zeros(10**14)") + SAME, r"not enough memory to run"),
    "an exception of the program": (
        "def part(x):\n    raise KeyError('layer.7')\n\n\ndef left(x):\n    return part(x)\n\n\n" + SAME,
        r"pair.py:8 raises KeyError: 'layer.7'",
    ),
    "an exception inside a layer of torch": (
        "left = nn.Embedding(5, 4)\n\n\n" + SAME,
        r"Embedding raises RuntimeError: Expected tensor for argument #1 'indices'",
    ),
    "gradients": (
        returning("torch.autograd.grad((x**2).sum(), x)[0]") + SAME,
        r"pair.py:8 raises RuntimeError: element 0 of tensors does not require grad",
    ),
    "training": ("left = nn.BatchNorm1d(3)\n\n\n" + SAME.replace("3)", "6).view(2, 3)"), r"BatchNorm1d .*call .eval"),
    "a sparse input": (returning("x") + "right, inputs = left, torch.eye(2).to_sparse()\n", r"x is a sparse"),
    "a sparse weight": (
        "w = torch.eye(3).to_sparse()\n\n\ndef left(x):\n    return w @ x[:, None]\n\n\n" + SAME,
        r"pair.py:11 uses a sparse Tensor on cpu",
    ),
    "a sparse tensor on the way": (
        returning("x.to_sparse().to_dense()") + SAME,
        r"pair.py:8 uses a sparse Tensor on cpu",
    ),
    "no output": (returning("None") + SAME, r"left returns no tensor, so there is nothing to compare"),
    "an output that is no tensor": (returning("x, 3") + SAME, r"left returns an int \(output 1\)"),
    "a kernel that takes float32 only": (
        "@torch.library.custom_op('bad_input::narrow', mutates_args=())\n"
        "def narrow(x: torch.Tensor) -> torch.Tensor:\n    assert x.dtype == torch.float32, 'only float32'\n"
        "    return x * 2\n\n\ndef left(x):\n    return torch.ops.bad_input.narrow(x)\n\n\n" + SAME,
        r"pair.py:14: bad_input.narrow.default fails on these values: only float32; it has to take float64",
    ),
}


# What differs in kind is a difference and no bad input: another number of outputs, another shape, statistics that one
# side updates, None or a number in the place of a tensor.
UNLIKE = ("outputs in another number", "outputs of another shape", "training", "no output",
          "an output that is no tensor")


@pytest.mark.parametrize("name", UNLIKE)
def test_what_differs_in_kind_is_different(samesame, name):
    code, out, err = samesame(REFUSED[name][0])
    assert code == 1 and out.startswith("different") and not err, out + err


@pytest.mark.parametrize("name", [name for name in REFUSED if name not in UNLIKE])
def test_what_cannot_be_compared_is_refused_in_one_sentence(samesame, tmp_path, name):
    source, message = REFUSED[name]
    code, out, err = samesame(source, "check", "pair.py", "--json", "out.json")
    said = err.strip().splitlines()
    assert (code, out, len(said)) == (2, "", 1), err
    assert said[0].startswith("samesame: ")
    assert re.search(message, said[0]), said[0]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != "") == ["pair.py"]


def test_export_refuses_in_one_sentence_too(tmp_path):
    """In a process of its own, since torch logs past `sys.stderr`."""
    (tmp_path / "pair.py").write_text(HEAD + returning("x if x.sum() > 0 else -x") + SAME)
    command = [sys.executable, "-m", "samesame", "check", "pair.py", "--how", "export"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("samesame: pair.py:8 ")
    assert len(done.stderr.splitlines()) == 1


FACTORS = "def left(x):\n    return x * {}\n\n\ndef right(x):\n    return x + x\n\n\n"
DECIDED = {
    "half": (FACTORS.format(2) + "inputs = torch.linspace(-1, 1, 5).half()\n", 0),
    "bfloat16": (FACTORS.format(3) + "inputs = torch.linspace(-1, 1, 5).bfloat16()\n", 1),
    "integers": (FACTORS.format(2) + "inputs = torch.arange(5)\n", 0),
    "other integers": (FACTORS.format(3) + "inputs = torch.arange(5)\n", 1),
    "no dimension": (FACTORS.format(2) + "inputs = torch.tensor(2.0)\n", 0),
    "no element": (returning("x + 1") + "def right(x):\n    return x + 2\n\n\ninputs = torch.zeros(0, 3)\n", 0),
    "booleans": ("def left(x):\n    return x > 0\n\n\ndef right(x):\n    return ~(x <= 0)\n\n\n" + INPUTS, 0),
    "complex": (
        "def left(x):\n    return x.conj() * 1\n\n\ndef right(x):\n    return x + 0\n\n\n"
        "inputs = torch.complex(torch.linspace(-1, 1, 3), torch.linspace(1, 2, 3))\n",
        1,
    ),
    "infinities in other places": (
        "def left(x):\n    return torch.where(x > 0, x, -torch.inf)\n\n\n"
        "def right(x):\n    return torch.where(x > 0.7, x, -torch.inf)\n\n\ninputs = torch.linspace(-1, 1, 5)\n",
        1,
    ),
    "nested outputs": (
        "def left(x):\n    return {'a': [x, (x + x, None)]}\n\n\n"
        "def right(x):\n    return {'a': [x, (x * 2, None)]}\n\n\n"
        + INPUTS,
        0,
    ),
    "deep outputs": (
        "def left(x):\n    y = x + 1\n    for _ in range(200):\n        y = [y]\n    return y\n\n\nright = left\n"
        + INPUTS,
        0,
    ),
    "names that are made when asked for": (
        "def __getattr__(name):\n    if name in ('left', 'right'):\n        return lambda x: x * 2\n"
        "    if name == 'inputs':\n        return torch.ones(2)\n    raise AttributeError(name)\n",
        0,
    ),
}


@pytest.mark.parametrize("name", DECIDED)
def test_what_can_be_compared_is_whatever_its_kind(samesame, name):
    source, wanted = DECIDED[name]
    code, out, err = samesame(source)
    assert (code, err) == (wanted, ""), out + err


def test_a_path_may_hold_blanks_and_any_letter_and_lie_elsewhere(samesame, tmp_path):
    folder = tmp_path / "a földer"
    folder.mkdir()
    (folder / "päir é.py").write_text(HEAD + FACTORS.format(2) + "inputs = torch.ones(2)\n")
    code, _, err = samesame("", "check", str(folder / "päir é.py"), "--json", "out.json")
    assert (code, err) == (0, "")
    assert "a földer/päir é.py:left" in json.loads((tmp_path / "out.json").read_text())["left"]


# ---------------------------------------------------------------------------------------------- reports of hard cases


SWIGLU = """@torch.library.custom_op("bad_input::{name}", mutates_args=())
def {name}(x: torch.Tensor) -> torch.Tensor:
    {order} = x.chunk(2, -1)
    return F.silu(a) * b


def left(x):
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def right(x):
    return torch.ops.bad_input.{name}(x) * 3 / 3


inputs = torch.linspace(-1, 1, 12).reshape(2, 6)
"""


def test_a_kernel_and_its_composite_form_are_the_same_as_far_as_tests_say(samesame):
    code, out, _ = samesame(SWIGLU.format(name="swiglu", order="a, b"))
    assert code == 0
    assert out.startswith("same   every output tested")
    assert re.search(r"bad_input\.swiglu\.default opaque; \d+ draws", " ".join(out.split()))
    assert "proved" not in out.partition("relations\n")[0].replace("proved from what is tested", "")


def test_a_kernel_that_is_another_function_differs(samesame):
    assert samesame(SWIGLU.format(name="swapped", order="b, a"))[0] == 1


def test_outputs_in_another_order_are_recognised(samesame):
    source = "def left(x):\n    return x + 1, x * 2\n\n\ndef right(x):\n    return x * 2, x + 1\n\n\n"
    code, out, _ = samesame(source + INPUTS)
    assert code == 1
    assert "the right's is the left's output 1: are the outputs in another order?" in " ".join(out.split())


WEIGHTS = """class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return self.b(self.a(x))


def right():
    model = left()
    model.b = nn.Linear(3, 3)
    return model


inputs = torch.ones(2, 3)
"""


def test_weights_without_a_partner_are_named(samesame):
    code, out, _ = samesame(WEIGHTS)
    named = out.partition("without a counterpart")[2].partition("\n\n")[0]
    assert code == 1
    assert [line.strip() for line in named.splitlines()[1:5]] == [
        f"{side} b.{kind}" for side in ("left", "right") for kind in ("weight", "bias")
    ]
    assert "load the same weights into both" in named
    assert "computes what" not in out


def test_weights_folded_and_rounded_are_no_difference(samesame):
    source = """class left(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.norm = nn.BatchNorm1d(8).eval()
        self.norm.running_var.uniform_(0.5, 2)
        self.norm.running_mean.normal_()

    def forward(self, x):
        return self.norm(x)


class right(nn.Module):
    def __init__(self):
        super().__init__()
        norm = left().norm
        self.register_buffer("scale", (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach())
        self.register_buffer("shift", (norm.bias - norm.running_mean * self.scale).detach())

    def forward(self, x):
        return x * self.scale + self.shift


inputs = torch.linspace(-1, 1, 24).reshape(3, 8)
"""
    code, out, _ = samesame(source)
    assert code == 0
    assert "every output the same up to the rounding of stored numbers" in " ".join(out.split())
    assert "scale of the right read as norm.weight/√(norm.running_var + 1e-05)" in " ".join(out.split())


def test_another_dtype_of_an_output_is_a_difference(samesame):
    code, out, _ = samesame(returning("x.half()") + SAME)
    assert code == 1
    assert "output 0 is float16 on the left and float32 on the right" in " ".join(out.split())


def test_a_time_limit_leaves_a_verdict_of_what_was_found(samesame):
    source = (
        "def left(x):\n    for i in range(20):\n        x = torch.sin(x @ x) * x.softmax(-1) + i\n    return x\n\n\n"
        "def right(x):\n    for i in range(20):\n        x = i + x.softmax(-1) * torch.sin(x.matmul(x))\n"
        "    return x\n\n\n"
        "inputs = torch.eye(3) + 0.1\n"
    )
    code, out, _ = samesame(source, "check", "pair.py", "--timeout", "0.000001")
    assert code == 3
    assert "the time limit was reached at operator 1 of" in " ".join(out.split())


# --------------------------------------------------------------------------------------------------------- saved graphs


def test_graphs_captured_on_other_inputs_are_not_compared(samesame, tmp_path):
    zeros = torch.zeros(3)
    inputs = {"a": (zeros,), "b": (torch.ones(3),), "c": (torch.zeros(4),), "d": (zeros, zeros)}
    for name, example in inputs.items():
        save_graph(capture(lambda x, y=1: x + y, example, name=name), tmp_path / f"{name}.json")
    for other, message in {
        "b": "input x has different example values on the two sides",
        "c": "input x is float32[3] on the left and float32[4] on the right",
        "d": "left takes 1 input (x) and right takes 2 inputs (x, y)",
    }.items():
        code, out, err = samesame("", "check", "a.json", f"{other}.json")
        assert (code, out) == (2, "")
        assert message in err
    assert samesame("", "check", "a.json", "a.json")[0] == 0


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_program_from_a_file_without_inputs_asks_for_them(samesame, tmp_path):
    torch.jit.trace(lambda x: x * 2, torch.ones(3)).save(str(tmp_path / "twice.pt"))
    code, _, err = samesame(SAME, "graph", "twice.pt")
    assert code == 2 and "twice.pt needs inputs to run on; give --inputs" in err
    assert samesame(SAME, "graph", "twice.pt", "--inputs", "pair.py:inputs")[0] == 0


@pytest.mark.parametrize("target", ["pair.py", "pair.py:left:part"])
def test_a_target_without_a_program_says_how_one_is_written(samesame, target):
    code, _, err = samesame(SAME, "graph", target)
    assert code == 2
    assert re.search(r"such as pair.py:left$|write file.py:name", err.strip())
