"""A program of one's own as the seed: is *my* model compiled rightly, and do its equivalent twins agree?

The module runs as it is, eager and compiled, on its inputs. Then its graph, as `check` records it, becomes a program
like those that generators make, whose inputs and weights lie in a file: twins of it are made, and judged like any
other.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from samesame.capture import capture, load_inputs, load_target
from samesame.capture.program import arguments_of
from samesame.evidence import Refused
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.backends.backend import Backend
from samesame.fuzz.judge import Judgement, Stage, accusation, of_twin
from samesame.fuzz.oracle import Observation, apart, in_float64, observe, words_of
from samesame.fuzz.program import Input, Program, Ref, Step, defined, source
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
            args, kwargs = torch.utils._pytree.tree_unflatten(leaves, structure)
            found, _ = tree_flatten(program(*args, **kwargs), is_leaf=is_cache)
            return tuple(leaf for leaf in found if isinstance(leaf, torch.Tensor))

        return call

    def make_inputs(self) -> list[torch.Tensor]:
        return [leaf.detach().clone() for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def wide(self) -> Observation | None:
        """The module in float64; None for a function, whose own weights cannot be reached."""
        if not isinstance(self.program, torch.nn.Module):
            return None
        wide = Own(copy.deepcopy(self.program).double(), (self.args, self.kwargs))
        wide.args, wide.kwargs, wide.leaves, wide.structure = self.args, self.kwargs, self.leaves, self.structure
        seen = observe(wide.function(), lambda: [_double(tensor) for tensor in self.make_inputs()])
        return None if seen.error else seen


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def loaded(target: str, inputs: str) -> Own:
    """The user's program. Raises Refused where it cannot be run eagerly."""
    program = load_target(target)
    if isinstance(program, Graph):
        raise Refused(f"{target} is a saved graph, which no compiler takes; name the module")
    own = Own(program, load_inputs(inputs))
    with torch.no_grad():
        seen = observe(own.function(), own.make_inputs, calls=1)
    if seen.error:
        raise Refused(f"{target} does not run on {inputs}: {seen.error}; give inputs on which it runs eagerly")
    return own


def judge_own(own: Own, backend: Backend, say: Stage) -> Judgement:
    """The module itself, eager against compiled."""
    say("eager")
    with torch.no_grad():
        eager = observe(own.function(), own.make_inputs)
        again = observe(own.function(), own.make_inputs, calls=1)
        if any(apart(a.value, b.value) for a, b in zip(eager.outputs[0], again.outputs[0], strict=True)):
            return Judgement("unsteady", why="two eager runs differ: call .eval() on the module")
        wide = own.wide()
        say("compiled program")
        found = accusation(own, backend, eager, wide)
    if found is None:
        return Judgement("agrees")
    return Judgement("found", "program", found.kind, found.where, found.detail)


def judge_twin(program: Program, backend: str, number: int, say: Stage) -> dict[str, Any]:
    """The twin of a number of the user's program: equal to it in eager, and compiled rightly?"""
    say("twin")
    twin = twin_of(program, random.Random(number))
    if twin is None:
        return {"status": "no twin", "rewrites": []}
    with torch.no_grad():
        eager, wide = observe(program.function(), program.make_inputs), in_float64(program)
        seen = observe(twin.program.function(), twin.program.make_inputs)
        judged = of_twin(eager, seen, wide, twin.exact)
        if judged is None:
            say("compiled twin")
            found = accusation(twin.program, BACKENDS[backend], seen, wide)
            told = (found.kind, found.where, found.detail) if found else ()
            judged = Judgement("found" if found else "agrees", "twin", *told)
    return {**asdict(judged), "rewrites": list(twin.rules), "text": source(twin.program)}


def judge_written(text: str, backend: Backend, twins: bool, say: Stage) -> Judgement:
    """A module given as text that defines `Model` and `inputs()`, and its twin by swapped operators."""
    say("eager")
    try:
        own = from_text(text)
    except Exception as error:
        return Judgement("invalid", why=words_of(error))
    with torch.no_grad():
        seen = observe(own.function(), own.make_inputs)
    if seen.error:
        return Judgement("invalid", why=seen.error)
    judged = judge_own(own, backend, say)
    changed, count = swapped(text)
    if judged.status != "agrees" or not twins or not count:
        return judged
    say("twin")
    twin = from_text(changed)
    twin.program.load_state_dict(own.program.state_dict())
    with torch.no_grad():
        wrong = of_twin(seen, observe(twin.function(), twin.make_inputs), own.wide(), False)
    if wrong is not None:
        return wrong
    return replace(judge_own(twin, backend, lambda stage: say(stage.replace("program", "twin"))), stage="twin")


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
    inputs = [Input(names[n], f"torch.load({str(file)!r})[{n.name!r}]") for n in graph.nodes if n.is_source]
    steps = [_step(node, names) for node in graph.nodes if not node.is_source]
    return Program(tuple(inputs), tuple(steps), tuple(dict.fromkeys(names[node] for _, node in graph.roots)))


def _step(node: Node, names: dict[Node, str]) -> Step:
    def argument(value: Any) -> Any:
        if isinstance(value, Node):
            return Ref(names[value])
        if isinstance(value, Dtype):
            return getattr(torch, value.name)
        if isinstance(value, list | tuple):
            return [argument(part) for part in value]
        return value

    args = tuple(map(argument, node.args))
    if node.operator == "getitem":
        return Step((names[node],), "[]", args)
    kwargs = {name: argument(value) for name, value in node.kwargs.items()}
    return Step((names[node],), _call(node.operator), args, kwargs)


def _call(operator: str) -> str:
    """The function that rewrites know, where there is one; else the operator itself."""
    plain = f"torch.{operator.split('.')[1]}"
    return plain if plain in WORDS_OF else f"torch.ops.{operator}"

