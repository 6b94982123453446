"""Export a program: torch.export makes a graph, and recording a run of that makes ours.

What torch.export gives still has views, writes and composite operators, or, decomposed, torch's core operators. Running
it node by node under the recorder puts it into the same terms as any other program, under the same conditions. Origins
come from the stack traces and module paths that torch.export noted.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr
from copy import copy
from dataclasses import replace
from functools import cache
from io import StringIO
from traceback import StackSummary
from typing import Any
from unittest.mock import patch

import torch
from torch import _export, fx, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._pytree import tree_leaves, tree_unflatten

from samesame.capture.again import Outputs, Ways, confirm, demand_same, put
from samesame.capture.asked import setting_of
from samesame.capture.memory import has_memory, place_of
from samesame.capture.program import Program, referred
from samesame.capture.record import Recorder, recorded, unwatched
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Origin
from samesame.programs.origins import OURS, is_users, line_in_text, line_of_error

DATA_DECIDES = (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException)
MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)
SOURCES = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "constant", InputKind.CONSTANT_TENSOR: "constant"}


MISSED = "torch.export misses something that the program does; record it instead"


def export(program: Program, name: str, again: bool = True, *, decompose: bool = False) -> Graph:
    """The graph that torch.export makes of `program`; with `decompose`, in terms of torch's core operators."""
    made = exported(program, decompose)
    graph, recorder, _ = recorded(made, name)
    try:
        return assured(made, graph, recorder, again=again)
    finally:
        recorder.let_go()


def assured(
    made: Exported, graph: Graph, recorder: Recorder, afresh: Callable[[], None] = lambda: None, again: bool = True
) -> Graph:
    """The graph of what was exported, once the program itself computes the same: on the example, or if `again` on other
    values. `afresh` leaves the program as it was before."""
    program = made.original

    def run(otherwise: bool = False) -> Outputs:
        try:
            return unwatched(program, otherwise)
        finally:
            afresh()

    if not again:
        with put({}, program.held, {}):
            confirm(graph, run(), MISSED)
        return graph
    ways = Ways(
        run=run,
        recorded=None,
        weights={name: tensor for name, tensor in recorder.weights.items() if program.named(tensor) is not None},
        others=program.parameters,
        written=program.held,
        asked={},
        otherwise=MISSED,
    )
    return replace(graph, setting=setting_of(program.program, demand_same(program, graph, ways)))


def exported(program: Program, decompose: bool) -> Exported:
    """The program as torch.export sees it."""
    return Exported(program, exported_program(program, decompose))


def exported_program(program: Program, decompose: bool) -> ExportedProgram:
    """torch.export's own result. Raises Refused with the program's line where torch.export fails."""
    module = program.program if isinstance(program.program, nn.Module) else Wrapped(program.program)
    try:
        with torch.no_grad(), silent(), warnings.catch_warnings(), users_frames_noted():
            warnings.simplefilter("ignore")
            exported = torch.export.export(module, program.args, program.kwargs, strict=False)
            with composites_listed_once():
                return exported.run_decompositions() if decompose else exported
    except SamesameError:
        raise
    except DATA_DECIDES as error:
        raise Refused(
            f"{line_of_error(error).spoken} lets a tensor's values decide its course, so the graph depends on data; "
            "pass the value as an argument instead"
        ) from error
    except Exception as error:
        text = (str(error).strip().splitlines() or ["no message"])[0]
        place = line_of_error(error).spoken
        raise Refused(f"{place}: torch.export fails with {type(error).__name__}: {text}") from error


@contextmanager
def silent() -> Iterator[None]:
    """Without what torch.export prints and logs on stderr; a failure says it shorter."""
    logger = logging.getLogger("torch.fx.experimental.symbolic_shapes")
    before = logger.disabled
    logger.disabled = True
    try:
        with redirect_stderr(StringIO()):
            yield
    finally:
        logger.disabled = before


def users_frames_noted() -> AbstractContextManager[Any]:
    """Have torch.export note every line of the user's program, not only those of functions called `forward`."""

    def users_frames(tracer: Any, frames: StackSummary) -> StackSummary:
        entry = max((k for k, frame in enumerate(frames) if frame.filename.startswith(OURS)), default=-1)
        return StackSummary.from_list([frame for frame in frames[entry + 1 :] if is_users(frame.filename)])

    return patch.object(fx.proxy.TracerBase, "_filter_traceback_frames", users_frames, create=True)


def composites_listed_once() -> AbstractContextManager[Any]:
    """Have torch list C++'s composite operators once for a program. It does so anew for each namespace of operators, of
    which libraries bring dozens, before it looks at the program: half of the time that a small one takes."""
    listing = "_materialize_cpp_cia_ops"
    own = getattr(_export.utils, listing, None)
    return nullcontext() if own is None else patch.object(_export.utils, listing, cache(own))


class Wrapped(nn.Module):
    """A function as the module that torch.export asks for, with the modules that it uses as parts."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        for name, thing in referred(function):
            if isinstance(thing, nn.Module):
                self.add_module(name or "root", thing)
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Exported(Program):
    """An exported program as a program: `call` runs it node by node."""

    def __init__(self, program: Program, exported: ExportedProgram) -> None:
        self.original, self.program, self.exported = program, program.program, exported
        self.args, self.kwargs, self.inputs, self.modules = program.args, program.kwargs, program.inputs, {}
        self.arguments, self.parts, self.held, self.tensors = (
            program.arguments, program.parts, program.held, program.tensors
        )
        self.where = Origin()
        held = exported.constants | exported.state_dict
        self.names = {
            place_of(held[spec.target]): (SOURCES[spec.kind], spec.target)
            for spec in exported.graph_signature.input_specs
            if spec.kind in SOURCES and spec.target is not None and has_memory(held[spec.target])
        } | program.names

    def here(self, module: str) -> Origin:
        return self.where

    def plain(self) -> Program:
        other = copy(self.original)
        other.args, other.kwargs, other.inputs = self.args, self.kwargs, self.inputs
        return other

    def call(self) -> Any:
        exported = self.exported
        given = iter(tree_leaves((self.args, self.kwargs)))
        held = exported.constants | exported.state_dict
        values = [
            next(given) if spec.kind is InputKind.USER_INPUT else held[str(spec.target)]
            for spec in exported.graph_signature.input_specs
        ]
        flat = Replay(exported.graph_module, self).run(*values)
        specs = exported.graph_signature.output_specs
        taken = zip(exported.graph_signature.input_specs, values, strict=True)
        places = {spec.arg.name: value for spec, value in taken}
        for part, spec in zip(flat, specs, strict=True):
            if spec.kind in MUTATIONS:      # what a pure graph has its caller write
                target = held.get(str(spec.target), places.get(str(spec.target)))
                target.copy_(part)
        outputs = [part for part, spec in zip(flat, specs, strict=True) if spec.kind is OutputKind.USER_OUTPUT]
        return tree_unflatten(outputs, exported.call_spec.out_spec)


class Replay(fx.Interpreter):
    """Runs an exported graph and keeps `program.where` at the line that the running node comes from."""

    def __init__(self, graph: fx.GraphModule, program: Any) -> None:
        super().__init__(graph)
        self.program, self.extra_traceback = program, False

    def run_node(self, n: fx.Node) -> Any:
        trace = n.meta.get("stack_trace") or ""
        if n.op == "call_function" and trace:
            self.program.where = line_in_text(trace, self.module_of(n))
        return super().run_node(n)

    def module_of(self, node: fx.Node) -> str:
        modules = list((node.meta.get("nn_module_stack") or {}).values())
        return str(modules[-1][0]) if modules else ""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Regions of another gradient mode or autocast are graphs of their own, inside a higher-order operator."""
        if target is torch.ops.aten.view.default:
            target = torch.ops.aten.reshape.default       # the strides may be others than those of the traced tensors
        if target is torch.ops.higher_order.wrap_with_set_grad_enabled:
            return Replay(args[1], self.program).run(*args[2:])
        if target is torch.ops.higher_order.wrap_with_autocast:
            device, dtype, enabled, cached, region, *rest = args
            with torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=cached):
                return Replay(region, self.program).run(*rest)
        return super().call_function(target, args, kwargs)
