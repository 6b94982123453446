"""Programs become graphs.

`record` runs a program once and notes what torch dispatches; `export` asks torch.export for a graph first and records
that. Both give the same kind of graph: pure operators; inputs, parameters and constants by name; an origin for each
node. `targets` finds programs and inputs by name on disk; `files` keeps graphs there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

from samesame.capture.calls import Recorded, record_calls
from samesame.capture.exits import Differentiates, may_want_gradients
from samesame.capture.files import load_graph, save_graph
from samesame.capture.program import Program
from samesame.capture.record import record
from samesame.capture.targets import load_inputs, load_target
from samesame.evidence import Refused
from samesame.graph import Graph
from samesame.graph.text import text_form
from samesame.operators.execute import few_threads

__all__ = [
    "GRADIENTS", "Differentiates", "Recorded", "capture", "capture_calls", "load_graph", "load_inputs", "load_target",
    "may_want_gradients", "save_graph", "text_form",
]

GRADIENTS = "gradients"                                    # recorded with gradients on

def _export(target: Program, name: str, again: bool, *, decompose: bool = False) -> Graph:
    from samesame.capture.export import export  # loads torch.export, half a second that few need

    return export(target, name, again, decompose=decompose)


WAYS: dict[str, Callable[[Program, str, bool], Graph]] = {
    "record": record,
    GRADIENTS: record,
    "export": _export,
    "export+decompose": partial(_export, decompose=True),
}


def capture_calls(
    program: Any, inputs: Any, *, how: str = "record", name: str = "left", calls: int = 1,
    watched: Collection[str] = (), probing: bool = False, repeats: bool = False, borrows: bool = False,
    again: bool = False,
) -> Recorded:
    """The graph of one or two calls of `program`, with what they leave behind as roots beside what they return, and
    what they show beside numbers; see calls.py. A graph that `borrows` has the program's parameters themselves, so that
    it is good as long as nobody changes them. Else as `capture`."""
    if how not in WAYS:
        raise Refused(f"how is {how!r}; give {', '.join(map(repr, WAYS))}")
    target = Program(program, inputs, how == GRADIENTS)
    with few_threads(tensor.numel() for tensor in target.held):
        settings: dict[str, Any] = {"calls": calls, "watched": watched, "probing": probing, "repeats": repeats,
                                    "borrows": borrows}
        if WAYS[how] is record:
            return record_calls(target, name, **settings, again=again)
        from samesame.capture.export import assured, exported

        made = exported(target, how == "export+decompose")
        return record_calls(made, name, **settings, again=again, assure=assured)


def capture(program: Any, inputs: Any, *, how: str = "record", name: str = "left", again: bool = True) -> Graph:
    """The graph of `program`, a module or a function over tensors (or a Graph, which is returned under this name).

    `inputs` are example arguments: a tuple, or a dict by name. Tensors in them, also inside lists, tuples and dicts,
    become inputs of the graph, and their sizes its sizes; whatever else they hold is part of the program. Roots are the
    tensors that the program returns, flattened and named by key or position; all else that it returns is left out.
    The program runs on copies of the inputs, and its parameters and buffers hold afterwards what they held before.

    `how` is "record" (run it once and note what torch dispatches), "gradients" (the same with gradients on, as a
    program that computes some is recorded anyway), "export" (torch.export), or "export+decompose" (the same in terms of
    core operators). The program then runs again on other values of inputs and weights, and must
    compute what the graph does; not `again` where it has done so at other sizes.

    Raises Refused, with the program's line, where a graph would not stand for the program: values of data decide its
    course, it draws random numbers, or it fails on these inputs.
    """
    if isinstance(program, Graph):
        return replace(program, name=name)
    if how not in WAYS:
        raise Refused(f"how is {how!r}; give {', '.join(map(repr, WAYS))}")
    target = Program(program, inputs, how == GRADIENTS)
    with few_threads(tensor.numel() for tensor in target.held):
        try:
            return WAYS[how](target, name, again)
        except Refused as error:
            if how != "record" or not may_want_gradients(error):
                raise
    return capture(program, inputs, how=GRADIENTS, name=name, again=again)
