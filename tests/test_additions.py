"""One of each kind is added as docs/architecture.md shows it, and nothing else is touched: each does what it is for.

The lines of the page go where they say, in a copy of the source; a process of its own runs with that.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECTION = "### One of each, in full"
PLACE = re.compile(r"^# (?P<file>\S+\.py)(?:, (?P<where>in|above) (?P<name>\w+))?$", re.MULTILINE)
TEN = 10

PROGRAMS = '''
import torch

@torch.library.custom_op("toy::side", mutates_args=())
def side(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 0, -1.0, 1.0).to(x.dtype)

@side.register_fake
def _(x):
    return torch.empty_like(x)

def inputs(): return (torch.randn(3, 4, dtype=torch.float64),)

def beside(x): return side(x + x) * x
def beside_doubled(x): return side(2 * x) * x
def cubed(x): return side(x) * side(x) * side(x) * x
def once(x): return side(x) * x
def floored(x): return torch.floor(x) * x
def square(x): return 1 + 2 * x * x
'''

USED = '''
import json
from contextlib import redirect_stdout
from io import StringIO
import torch
import programs
from samesame.capture.targets import load_target
from samesame.check import check

def asked(left, right):
    verdict = check(left, right, programs.inputs())
    return {"verdict": verdict.verdict, "evidence": verdict.evidence.name,
            "edits": [edit.description for edit in verdict.diagnosis]}

def rules():
    from samesame.egraph import Budget, EGraph
    from samesame.fuzz.program import Input, Program, Ref, Step
    from samesame.fuzz.terms import as_terms, rules_for, floats_of
    x = Input("x", "torch.tensor([0.5, -2.0, 3.0])")
    program = Program((x,), (Step(("a",), "torch.neg", (Ref("x"),)), Step(("o",), "torch.sign", (Ref("a"),))), ("o",))
    graph, _ = as_terms(program, program.values())
    few = Budget(nodes=100, iterations=2)
    fuzzed = graph.saturate(rules_for(floats_of(program.values()), ()), few).uses
    from samesame.optimize.forms import load, minus, plus
    from samesame.optimize.rules import RULES, add, typed
    graph, known = EGraph(typed), {}
    a, b, c = (load(name, "k") for name in "abc")
    one, other = add(graph, minus(minus(a, b), c), known), add(graph, minus(a, plus(b, c)), known)
    graph.saturate(RULES, few)
    return {"fuzz": bool(fuzzed.get("sign-of-neg")), "optimize": graph.equal(one, other)}

def verb():
    from samesame.cli import app
    out = StringIO()
    with redirect_stdout(out):
        app(["shapes", "programs.py:once", "--inputs", "programs.py:inputs"], standalone_mode=False)
    return out.getvalue()

def second():
    from samesame.evaluator import Agreement, compare
    from samesame.formula.dag import claim
    from samesame.formula.expr import Fn, Leaf, Load, Num
    from samesame.formula.tensor import tensor
    x = Leaf("x", (Num(3),))
    sides = [tensor((3,), lambda i, k=k: Fn("side", Load(x, (i,))) ** k) for k in (1, 2, 3)]
    return [isinstance(compare(claim(sides[0], sides[k])), Agreement) for k in (1, 2)]

print(json.dumps({
    "operator": asked(programs.beside, programs.beside_doubled),
    "law": asked(programs.cubed, programs.once),
    "target": asked(load_target("poly:1,0,2"), programs.square),
    "edit": asked(programs.once, programs.floored),
    "rules": rules(), "verb": verb(), "second": second(),
}))
'''


def blocks() -> list[str]:
    section = (ROOT / "docs" / "architecture.md").read_text().split(SECTION)[1].split("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def parts(block: str) -> list[tuple[re.Match[str], str]]:
    """Each file and place that a block names, and the lines that go there."""
    places = list(PLACE.finditer(block))
    ends = [*(place.start() for place in places[1:]), len(block)]
    return [(place, block[place.end() + 1 : end]) for place, end in zip(places, ends, strict=True)]


def with_additions() -> dict[str, str]:
    """The text of each file that the page changes or makes, with what goes there: into a table first, or above a
    line."""
    texts: dict[str, str] = {}
    for place, lines in (part for block in blocks() for part in parts(block)):
        name, file = place["file"], ROOT / "src" / "samesame" / place["file"]
        if place["where"] is None:
            assert not file.exists()
            texts[name] = lines
            continue
        text = texts.get(name) or file.read_text()
        found = re.search(rf"^(def )?{place['name']}\b.*\n", text, re.MULTILINE)
        assert found, f"{name} has no {place['name']}"
        at = found.end() if place["where"] == "in" else found.start()
        texts[name] = text[:at] + lines + text[at:]
    return texts


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """What a process says that runs with all of them."""
    place = tmp_path_factory.mktemp("added")
    shutil.copytree(ROOT / "src" / "samesame", place / "samesame")
    for name, text in with_additions().items():
        (place / "samesame" / name).write_text(text)
    (place / "programs.py").write_text(PROGRAMS)
    environment = os.environ | {"PYTHONPATH": str(place)}
    run = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True, cwd=place, env=environment)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: PLACE.match(block)["file"])
def test_each_takes_ten_lines_at_most(block):
    assert sum(bool(line.strip()) for line in block.splitlines() if not PLACE.match(line)) <= TEN


def test_the_places_are_there():
    """Each file still compiles with what the page adds to it."""
    for name, text in with_additions().items():
        compile(text, name, "exec")


PROVED = {"verdict": "same", "evidence": "PROVED", "edits": []}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["operator", "law", "target"])
def test_what_is_proved_with_an_addition(used, kind):
    assert used[kind] == PROVED


@pytest.mark.long
def test_an_edit_is_found(used):
    assert used["edit"] == {"verdict": "different", "evidence": "REFUTED", "edits": ["aten.floor should be toy.side"]}


@pytest.mark.long
def test_laws_of_the_other_verbs(used):
    assert used["rules"] == {"fuzz": True, "optimize": True}


@pytest.mark.long
def test_a_verb_answers(used):
    assert used["verb"].strip() == "0: (3, 4)"


@pytest.mark.long
def test_the_second_prover_has_values_of_its_own(used):
    """side(x) is not side(x)², and is side(x)³."""
    assert used["second"] == [False, True]
