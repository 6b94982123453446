"""A program of one's own as the seed: is *my* model compiled rightly, and do its equivalent twins agree?

The module runs as it is, eager and compiled, on its inputs. Then its graph, as `check` records it, becomes a program
like those that generators make, whose inputs and weights lie in a file: twins of it are made, and judged like any
other.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from samesame.capture import capture, load_inputs, load_target
from samesame.capture.program import arguments_of
from samesame.egraph import Rule
from samesame.evidence import Refused
from samesame.fuzz.backends.backend import Backend
from samesame.fuzz.judge import Judgement, Stage, judge
from samesame.fuzz.oracle import observe, words_of
from samesame.fuzz.program import Input, Program, Ref, Runs, Step, defined, mapped, source, widened
from samesame.fuzz.swaps import swapped
from samesame.fuzz.twins import twin_of
from samesame.fuzz.words import WORDS_OF
from samesame.graph import Dtype, Graph, Node
from samesame.programs.outputs import is_cache

WEIGHTS = "seed.pt"


class Own:
    """The user's module or function on its inputs: what the oracle observes."""

    def __init__(self, program: Any, inputs: Any) -> None:
        self.program = program
        self.args, self.kwargs = arguments_of(inputs)
        self.leaves, self.structure = tree_flatten((self.args, self.kwargs))

    def function(self) -> Callable[..., Any]:
        program, structure, others = self.program, self.structure, self.leaves
        places = [k for k, leaf in enumerate(others) if isinstance(leaf, torch.Tensor)]

        def call(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            leaves = list(others)
            for place, tensor in zip(places, tensors, strict=True):
                leaves[place] = tensor
            args, kwargs = tree_unflatten(leaves, structure)
            found, _ = tree_flatten(program(*args, **kwargs), is_leaf=is_cache)
            return tuple(leaf for leaf in found if isinstance(leaf, torch.Tensor))

        return call

    def make_inputs(self) -> list[torch.Tensor]:
        return [leaf.detach().clone() for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def wide(self) -> Runs | None:
        """The module in float64; None for a function, whose own weights cannot be reached."""
        if not isinstance(self.program, torch.nn.Module):
            return None
        leaves = [widened(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = tree_unflatten(leaves, self.structure)
        wide = Own(copy.deepcopy(self.program).double(), kwargs or args)
        return wide.function(), wide.make_inputs


def loaded(target: str, inputs: str) -> Own:
    """The user's program. Raises Refused where it cannot be run eagerly."""
    program = load_target(target)
    if isinstance(program, Graph):
        raise Refused(f"{target} is a saved graph, which no compiler takes; name the module")
    return runnable(Own(program, load_inputs(inputs)), target, inputs)


def runnable(own: Own, program: str, inputs: str) -> Own:
    """The same, once it has run eagerly. Raises Refused, in these words, where it does not."""
    with torch.no_grad():
        seen = observe(own.function(), own.make_inputs, calls=1)
    if seen.error:
        raise Refused(f"{program} does not run on {inputs}: {seen.error}; give inputs on which it runs eagerly")
    return own


def judge_own(own: Own, backend: Backend, say: Stage) -> Judgement:
    """The module itself, eager against compiled."""
    with torch.no_grad():
        return judge(own, backend, say=say)


def judge_twin(
    program: Program, backend: Backend, number: int, say: Stage, learnt: Sequence[Rule] = ()
) -> dict[str, Any]:
    """The twin of a number of the user's program: equal to it in eager, and compiled rightly?"""
    say("twin")
    twin = twin_of(program, random.Random(number), learnt)
    if twin is None:
        return {"status": "no twin", "rewrites": []}
    with torch.no_grad():
        judged = judge(program, backend, twin.program, twin.exact, say, twin_alone=True)
    return {**asdict(judged), "rewrites": list(twin.rules), "text": source(twin.program)}


def judge_written(text: str, backend: Backend, twins: bool, say: Stage) -> Judgement:
    """A module given as text that defines `Model` and `inputs()`, and its twin by swapped operators."""
    say("eager")
    try:
        own = from_text(text)
    except Exception as error:
        return Judgement("invalid", why=words_of(error))
    changed, count = swapped(text)
    twin = from_text(changed) if twins and count else None
    if twin is not None:
        twin.program.load_state_dict(own.program.state_dict())
    with torch.no_grad():
        return judge(own, backend, twin, exact=False, say=say)


def from_text(text: str) -> Own:
    """The module and inputs that a text defines; executes it."""
    torch.manual_seed(0)
    space = defined(f"import torch\nfrom torch import nn\nimport torch.nn.functional as F\n{text}")
    return Own(space["Model"]().eval(), tuple(space["inputs"]()))


def seed_program(own: Own, folder: Path) -> Program:
    """The module's graph as a program whose inputs lie in a file of the folder."""
    graph = capture(own.program, own.kwargs or own.args, name="seed")
    file = (folder / WEIGHTS).absolute()
    held = {node.name: graph.tensors[node.name].detach().clone() for node in graph.nodes if node.is_source}
    torch.save(held, file)
    names = {node: f"v{k}" for k, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.operator == "getitem":           # one of several results, which its step names
            names[node] = f"{names[node.args[0]]}_{node.args[1]}"
    inputs = [Input(names[n], f"torch.load({str(file)!r})[{n.name!r}]") for n in graph.nodes if n.is_source]
    steps = [step_of(node, names) for node in graph.nodes if not node.is_source and node.operator != "getitem"]
    return Program(tuple(inputs), tuple(steps), tuple(dict.fromkeys(names[node] for _, node in graph.roots)))


def step_of(node: Node, names: Mapping[Node, str]) -> Step:
    """An application as a step over values of these names."""

    def leaf(value: Any) -> Any:
        if isinstance(value, Node):
            return Ref(names[value])
        return getattr(torch, value.name) if isinstance(value, Dtype) else value

    count = len(node.type) if isinstance(node.type, tuple) else 0
    results = tuple(f"{names[node]}_{k}" for k in range(count)) or (names[node],)
    return Step(results, _call(node.operator), mapped(node.args, leaf), mapped(node.kwargs, leaf), count > 0)


def _call(operator: str) -> str:
    """The function that rewrites know, where there is one; else the operator itself."""
    name = operator.split(".")[1]
    plain = (f"{room}.{name}" for room in ("torch", "torch.nn.functional"))
    return next((call for call in plain if call in WORDS_OF), f"torch.ops.{operator}")

