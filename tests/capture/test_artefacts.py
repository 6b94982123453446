"""What torch made of a module (an exported program, a script, operators that are given functions) is a target too."""

import zipfile

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention.flex_attention import flex_attention

from samesame import check
from samesame.capture import capture, load_target
from samesame.evidence import Refused

pytestmark = pytest.mark.filterwarnings("ignore")
X = (torch.randn(3, 8),)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(8, 12), nn.Linear(12, 6), nn.LayerNorm(6)
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x):
        return self.norm(self.down(F.gelu(self.up(x)))) * self.scale


class Counting(nn.Module):
    n: int

    def __init__(self):
        super().__init__()
        self.n = 0
        self.proj = nn.Linear(8, 8)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.n += 1
        self.steps += 2
        return self.proj(x) * self.n + self.steps


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        kept = [x]
        for _ in range(3):
            kept.append(torch.tanh(self.proj(kept[-1])))
        if x.size(0) > 4:
            return kept[-1] * 2
        rows, width = x.shape
        return kept[-1] + kept[0].view(rows, 2, width // 2).sum(1).sum()


class ByData(nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            return x * 2
        return x


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        for tensor in (*self.norm.parameters(), self.norm.running_mean, self.norm.running_var):
            nn.init.uniform_(tensor, 0.5, 2.0)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    return Small().eval()


def test_an_exported_program_is_proved_over_its_own_sizes(small, tmp_path):
    program = torch.export.export(small, X, dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2, max=64)}})
    torch.export.save(program, tmp_path / "small.pt2")
    verdict = check(small, load_target(f"{tmp_path}/small.pt2"), X)
    assert (verdict.verdict, verdict.evidence.name) == ("same", "PROVED")
    assert verdict.covers({"x": (64, 8)}) and not verdict.covers({"x": (65, 8)})
    graph = capture(load_target(f"{tmp_path}/small.pt2"), X)
    assert any(node.origin.line and "F.gelu(self.up(x))" in node.origin.code for node in graph.nodes)


def test_a_script_keeps_its_lines_and_its_branches_on_sizes():
    torch.manual_seed(0)
    module = Branching().eval()
    script = torch.jit.script(module)
    verdict = check(module, script, X)
    assert verdict.verdict == "same" and verdict.evidence.name == "PROVED" and verdict.sizes.cases
    lines = [node.origin.code for node in capture(load(script), X).nodes]
    assert any("torch.tanh(self.proj(kept[-1]))" in line for line in lines)


def load(script):
    from samesame.capture.artefacts import program_of

    return program_of(script)


@pytest.mark.parametrize("make", [lambda m: torch.jit.trace(m, X), lambda m: torch.jit.freeze(torch.jit.script(m))],
                         ids=["traced", "frozen"])
def test_traced_and_frozen_modules(small, make, tmp_path):
    make(small).save(str(tmp_path / "small.pt"))
    verdict = check(small, load_target(f"{tmp_path}/small.pt"), X)
    assert (verdict.verdict, verdict.evidence.name) == ("same", "PROVED")


def test_a_script_made_for_inference_has_its_norm_folded():
    torch.manual_seed(0)
    module, images = Convolution().eval(), (torch.randn(2, 3, 8, 8),)
    verdict = check(module, torch.jit.optimize_for_inference(torch.jit.script(module)), images)
    assert verdict.verdict == "same" and verdict.readings


def test_a_script_that_keeps_state_is_compared_over_two_calls():
    torch.manual_seed(0)
    module, script = Counting(), torch.jit.script(Counting())
    script.load_state_dict(module.state_dict())
    verdict = check(module, script, X)
    assert (verdict.verdict, verdict.scope) == ("same", "for the first two calls")
    assert (script.n, float(script.steps)) == (0, 0.0)                        # as it was before


def test_a_script_of_another_formula_differs(small):
    class Other(Small):
        def forward(self, x):
            return self.norm(self.down(F.gelu(self.up(x), approximate="tanh"))) * self.scale

    other = Other().eval()
    other.load_state_dict(small.state_dict())
    assert check(small, torch.jit.script(other), X).verdict == "different"


def test_a_script_that_branches_on_data_is_refused():
    with pytest.raises(Refused, match=r"test_artefacts.py:\d+ uses a tensor as a condition"):
        check(ByData(), torch.jit.script(ByData()), X)


def test_files_that_hold_no_program(tmp_path, small):
    torch.save({"w": torch.ones(2)}, tmp_path / "state.pt")
    (tmp_path / "state.pt2").write_bytes(b"nothing")
    torch.jit.script(small).save(tmp_path / "script.pt2")
    torch.export.save(torch.export.export(small, X), tmp_path / "exported.pt")
    for name, whole in (("cut.pt", "script.pt2"), ("cut.pt2", "exported.pt")):
        (tmp_path / name).write_bytes((tmp_path / whole).read_bytes()[:900])
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("a/b", "c")
    for name, said in {
        "state.pt": "torch.jit.save: these are weights, .*; name what makes the module instead, such as model.py:Model",
        "state.pt2": "torch.export.save: it is no archive as torch writes them; give a file that it saved",
        "cut.pt": "torch.jit.save: it was cut off, or is damaged; save or fetch it again",
        "cut.pt2": "torch.export.save: it was cut off, or is damaged; save or fetch it again",
        "other.pt2": "torch.export.save: it is an archive of something else; give a file that torch saved",
        "script.pt2": "torch.export.save: it is one of torch.jit.save; call it script.pt",
        "exported.pt": "torch.jit.save: it is one of torch.export.save; call it exported.pt2",
    }.items():
        with pytest.raises(Refused, match=f"{name} holds no program of {said}$"):
            load_target(f"{tmp_path}/{name}")
    with pytest.raises(Refused, match=r"gone\.pt2 does not exist"):
        load_target("gone.pt2")


# --------------------------------------------------------------------------------------- operators given functions


def heads(x):
    batch, length, _ = x.shape
    return [part.view(batch, length, 2, 4).transpose(1, 2) for part in x.chunk(3, -1)]


def with_a_score(x):
    def score(score, b, h, i, j):
        return torch.where(i >= j, score * 0.5, -float("inf"))

    return flex_attention(*heads(x), score_mod=score, scale=1.0)


def test_flex_attention():
    x = (torch.randn(2, 5, 24),)
    assert check(lambda x: F.scaled_dot_product_attention(*heads(x), is_causal=True), with_a_score, x).verdict == "same"
    assert check(lambda x: F.scaled_dot_product_attention(*heads(x)), with_a_score, x).verdict == "different"


def stepped(x):
    from torch._higher_order_ops.scan import scan

    def step(state, row):
        state = torch.tanh(state) + row
        return state, state.clone()

    return scan(step, torch.zeros(4), x)[1]


def in_a_loop(x):
    state, found = torch.zeros(4), []
    for row in x:
        state = torch.tanh(state) + row
        found.append(state)
    return torch.stack(found)


def chosen(x):
    return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x, (x,))


def test_scan_and_cond():
    x = (torch.randn(3, 4),)
    assert check(in_a_loop, stepped, x).verdict == "same"
    with pytest.raises(Refused, match=r"uses a tensor as a condition, so the graph depends on data"):
        capture(chosen, x)
