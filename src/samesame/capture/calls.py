"""Calls: a program recorded with all that its calls do, over one call or two.

What a call writes into tensors that were there before it, and the tensors that it leaves in attributes, are roots
beside what it returns. Whether one call tells all is found out by a second one, which is not recorded: it runs on
other values of the inputs, from the state that the first one left. If it gives what the first call's graph gives on
these values, and leaves the program as it found it, then every later call is like the first. If not, two calls are
recorded into one graph, the second on inputs of its own, so that what the first one left behind is there to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from samesame.capture.again import agree, confirm
from samesame.capture.eager import Watching
from samesame.capture.higher import definition
from samesame.capture.memory import Storage, address, has_memory, place_of
from samesame.capture.ordinary import ordinary, triton_kernels
from samesame.capture.program import Program, kind_of
from samesame.capture.record import UNSEEN, Recorder, assured, recorded
from samesame.capture.snapshot import Snapshot, snapshot, snapshot_of_arguments
from samesame.capture.spelled import UPDATES
from samesame.evidence import Refused
from samesame.graph import Graph, Node, Origin, with_roots
from samesame.graph.interface import ITSELF, WHOLE, Interface, State, Structure, returned_root, state_root
from samesame.operators.execute import bound, execute, is_finite, tensors_in, written
from samesame.programs.outputs import taken_apart

SECOND_INPUT = "second_call."                              # before the name of an input of the second call
UNNAMED = "a tensor without a name"


@dataclass(frozen=True, slots=True)
class Recorded:
    """The graph of a program's calls, and what they show beside numbers. `again` says why one call does not tell all;
    nothing where it does. `fails` is what a second call raises, if it does. The second call is one on other values
    unless `repeats`: the program takes only its own."""

    graph: Graph
    interface: Interface
    again: str = ""
    fails: str = ""
    repeats: bool = False


class CallRecorder(Recorder):  # type: ignore[no-untyped-call]
    """Notes `calls` calls of a program, the second one on other values unless it `repeats`. `watched` are names of
    tensors that are roots whether they are written or not; a recorder that is `probing` finds out whether a second call
    would tell more than the first."""

    def __init__(self, program: Program, calls: int, watched: Collection[str], probing: bool, repeats: bool,
                 borrows: bool) -> None:
        super().__init__(program, borrows)
        self.watched, self.probing, self.repeats = watched, probing, repeats
        comes = calls > 1 or probing or program.plain() is not program       # does a second call? Most times none does
        self.other = program.again(otherwise) if comes else program
        self.same = program.again(torch.clone) if comes else program
        second = self.same if repeats else self.other
        self.programs = (program, second)[:calls]
        self.moments = [snapshot(program.program)]
        self.given = [snapshot_of_arguments(each.arguments.arguments) for each in self.programs]
        self.taken: list[Snapshot] = []                    # the same arguments after the call
        self.places = [{name: place_of(t) for name, t in each.inputs.items()} for each in self.programs]
        self.found_tensors: dict[str, torch.Tensor] = {}
        self.structures: list[Structure] = []
        self.left: list[State] = []
        self.lost: dict[str, None] = {}
        self.shared: dict[str, frozenset[tuple[str, str]]] = {}
        self.held: dict[Storage, Node] = {}                # what memory held when the last call began
        self.first = {self.memory.read(tensor) for tensor in program.inputs.values()}
        self.names = {id(tensor): name for name, tensor in reversed(program.tensors.items())}
        self.reason = self.fails = ""
        self.watches: list[Writes] = []
        for name, tensor in second.inputs.items() if calls > 1 else ():
            self.memory.fresh(tensor, self.tape.source("input", SECOND_INPUT + name, tensor, Origin()), source=True)

    def results(self) -> list[tuple[str, torch.Tensor]]:
        """What every call returns and leaves behind, as it is right after the call."""
        found: list[tuple[str, torch.Tensor]] = []
        for call, program in enumerate(self.programs):
            self.held = {storage: storage.node for group in self.memory.storages.values() for storage in group}
            returned = program.call()
            with torch._C.DisableTorchFunction():          # the rest is not the program's doing
                found += self.shown(call, program, returned)
        self.found_tensors = dict(found)
        return found

    def shown(self, call: int, program: Program, returned: Any) -> list[tuple[str, torch.Tensor]]:
        structure, tensors = taken_apart(returned, self.program.title)
        self.structures.append(structure)
        self.moments.append(snapshot(program.program))
        self.taken.append(snapshot_of_arguments(program.arguments.arguments))
        found = [(returned_root(name, call), self.kept(tensor)) for name, tensor in tensors]
        if call == 0:
            self.shared = shared_memory(tensors, program, self.moments[-1])
        return [*found, *self.states(call)]

    def kept(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor as it is now, apart from what later calls write."""
        if len(self.programs) == 1:
            return tensor
        node = self.memory.read(tensor)
        with unrecorded():
            now = tensor.clone()
        self.memory.fresh(now, node)
        return now

    def states(self, call: int) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors that stood somewhere before the call and hold other values now, or are new in their place."""
        for (whose, name), tensor in self.changed(call).items():
            with unrecorded():
                undefined = tensor.is_floating_point() and bool(tensor.isnan().any())
            if undefined:                                  # memory that was never filled, say
                self.lost[name] = None
                continue
            root = state_root(name, call)
            self.left.append(State(whose, name, call, root))
            yield root, self.kept(tensor)

    def changed(self, call: int) -> dict[tuple[str, str], torch.Tensor]:
        before, now = self.moments[0], self.moments[-1]
        found: dict[tuple[str, str], torch.Tensor] = {}
        for name, tensor in self.programs[call].inputs.items():
            if place_of(tensor) != self.places[call][name]:
                found["input", name] = tensor              # another shape, in the caller's own tensor
        storages = [s for group in self.memory.storages.values() for s in group if s.source and s.version]
        for storage in storages:
            place = self.name_of(storage.whole, call, before)
            if place is not None and place[0] == "first" and storage.node is self.held.get(storage):
                continue
            if place is None:
                self.lost[UNNAMED] = None
            else:
                found.setdefault(place, storage.whole)
        fresh = before.new_tensors(now) if self.program.remembers else {}
        replaced = [("module", before, path, tensor) for path, tensor in fresh.items()]
        given = self.given[call]
        replaced += [("input", given, path, tensor) for path, tensor in given.new_tensors(self.taken[call]).items()]
        for whose, moment, path, tensor in replaced:
            name = self.called(path, moment) if whose == "module" else path
            if has_memory(tensor) and self.memory.knows(tensor):
                found.setdefault((whose, name), tensor)
            else:
                self.lost[path] = None
        for name in self.watched:
            there = self.program.tensors.get(name, before.tensors.get(name))
            if there is not None and has_memory(there):
                found.setdefault(("module", name), there)
        return found

    def source(self, tensor: torch.Tensor) -> Node:
        """A weight that stands in a list or further inside has the name of its place."""
        if self.program.named(tensor) is None and kind_of(tensor) == "parameter":
            place = self.name_of(tensor, 0, self.moments[0])
            if place is not None:
                return self.introduced("parameter", place[1], tensor, Origin(parameter=place[1]))
        return super().source(tensor)

    def called(self, path: str, moment: Snapshot) -> str:
        """The name of what stands at a path, or of the gradient of what stands there: a weight's own, if it is one."""
        of, dot, rest = path.rpartition(".grad") if path.endswith(".grad") else (path, "", "")
        old = moment.tensors.get(of)
        return self.names.get(id(old), of) + dot + rest

    def name_of(self, tensor: torch.Tensor, call: int, before: Snapshot) -> tuple[str, str] | None:
        """Whose a tensor is that was there before, and its name."""
        for number, program in enumerate(self.programs):
            for name, other in program.inputs.items():
                if other is tensor:
                    return ("input", name) if number == call else ("first", f"{name} of the first call")
        named = self.program.named(tensor)
        if named is not None:
            return "module", named[1]
        key = place_of(tensor)
        path = next((p for p, t in before.tensors.items() if has_memory(t) and place_of(t) == key), None)
        return None if path is None else ("module", self.called(path, before))

    # ------------------------------------------------------------------------------------------- what one call tells

    def ended(self, graph: Graph) -> None:
        exported = self.program.plain() is not self.program
        if self.program.remembers and (self.probing or exported):
            if exported:                                   # what was recorded was no call of the program itself
                self.start_anew()
            self.reason = self.what_remains(graph, exported)

    def start_anew(self) -> None:
        """Leave the program as its own first call does, rather than as a run of what was exported does."""
        with torch.inference_mode():
            self.memory.restore()
        self.moments[0].restore()
        _, self.moments[1] = self.plainly(self.same)

    def what_remains(self, graph: Graph, exported: bool) -> str:
        """Why one call does not tell all. Raises Refused where torch.export does not show what a second one does."""
        try:
            outputs, later = self.plainly(self.same if self.repeats else self.other)
        except (Exception, SystemExit):                    # the other values may be none that the program takes
            self.repeats = True
            self.undo_plain_calls()
            try:
                outputs, later = self.plainly(self.same)
            except (Exception, SystemExit) as error:
                self.fails = f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0]}"
                return "a second call fails"
        after = self.moments[1]
        moved = sorted(after.changed(later)) or sorted(after.tensors.keys() ^ later.tensors.keys())
        if moved:
            return self.unless(exported, f"a second call changes {moved[0]}")
        if len(self.programs) > 1:
            expected = {name: self.found_tensors[returned_root(name, 1)] for name in self.structures[1].tensors}
        elif kept := self.kept_name(graph):
            return f"a call leaves {kept}"
        else:
            given = {node.name: x for node, x in zip(graph.sources("input"), self.other_values, strict=True)}
            values = execute(graph, {**graph.tensors, **given}, precision="own", keep=False)
            roots = dict(graph.roots)
            expected = {name: values[roots[name].name] for name in self.structures[0].tensors}    # type: ignore[misc]
        if outputs.keys() != expected.keys():
            return self.unless(exported, "a second call returns other tensors")
        for name, output in outputs.items():
            if not agree(expected[name].to("cpu"), output.to("cpu")):
                return self.unless(exported, f"a second call returns another output {name}")
        return ""

    def kept_name(self, graph: Graph) -> str:
        """State that the next call may read: of tensors that were there before, or that depends on data."""
        before, roots = self.moments[0], dict(graph.roots)
        for state in self.left:
            kept = state.name in before.tensors or self.written(state.name)
            if state.whose != "input" and (kept or roots[state.root] in self.tape.open):
                return state.name
        return next(iter(self.lost), "")

    def unless(self, exported: bool, why: str) -> str:
        if exported:
            raise Refused(f"{self.program.title}: {why}, which torch.export does not show; record it instead")
        return why

    def written(self, name: str) -> bool:
        tensor = self.program.tensors.get(name, self.moments[0].tensors.get(name))
        return tensor is not None and any(s.version for s in self.memory.storages.get(address(tensor), ()))

    def plainly(self, program: Program) -> tuple[dict[str, torch.Tensor], Snapshot]:
        """What a call returns that is not recorded, and what it leaves; what it writes is put back by `restore`."""
        seen = {address(t): t for t in (*self.program.held, *self.moments[0].tensors.values()) if has_memory(t)}
        self.other_values = [tensor.to("cpu", copy=True) for tensor in program.inputs.values()]
        self.watches.append(Writes(seen))
        with ordinary(self.has_gradients), triton_kernels(), self.watches[-1]:
            _, found = taken_apart(program.plain().call(), program.title)
        return dict(found), snapshot(self.program.program)

    def undo_plain_calls(self) -> None:
        while self.watches:
            self.watches.pop().restore()
        self.moments[-1].restore()

    def restore(self) -> None:
        self.undo_plain_calls()
        super().restore()
        self.afresh()

    def afresh(self) -> None:
        """The program, and what it was given, as they were before the first call."""
        for moment in (self.moments[0], *self.given):
            moment.restore()

    # -------------------------------------------------------------------------------------------------- the interface

    def interface(self) -> Interface:
        """What the calls show, once they are recorded."""
        moments = self.moments if self.program.remembers else ()
        own = pairwise(moments)
        given = zip(self.given, self.taken, strict=True)
        changed, changed_in_arguments = (
            frozenset[str]().union(*(before.changed(after) for before, after in pairs)) for pairs in (own, given)
        )
        return Interface(
            tuple(self.program.arguments.arguments), tuple(self.structures), self.shared, tuple(self.left),
            tuple(moment.values for moment in self.moments[1:]), changed,
            tuple(taken.values for taken in self.taken), changed_in_arguments, tuple(self.lost),
            tuple(backward_hooks(self.program)), *self.left_behind(),
        )

    def left_behind(self) -> tuple[frozenset[str], bool]:
        """The nodes that a second call can read only because there was a first one, and whether it changed what Python
        holds once more."""
        if len(self.programs) == 1:
            return frozenset(), False
        _, after, later = self.moments
        fresh = {self.memory.view(tensor).storage for tensor in self.programs[1].inputs.values()}
        rewritten = {node for storage, node in self.held.items() if storage.node is not node and storage not in fresh}
        names = frozenset(node.name for node in rewritten | self.first)
        return names, bool(after.changed(later)) or after.tensors.keys() != later.tensors.keys()


@contextmanager
def unrecorded() -> Iterator[None]:
    """Inside, what runs is no part of the program that is being recorded."""
    with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.inference_mode():
        yield


def otherwise(tensor: torch.Tensor) -> torch.Tensor:
    """Other values of the kind that this tensor holds: numbers of the same signs and of no larger magnitudes, integers
    and truth values that occur in it."""
    with torch.inference_mode(False):
        count = tensor.numel()
        order = (2 * torch.arange(count) + 1) % max(count, 1)
        other = tensor.reshape(-1)[order.to(tensor.device)].reshape(tensor.shape)
        if not tensor.is_floating_point() or not is_finite(tensor):
            return other.clone()
        step = torch.arange(count, dtype=torch.float64, device=tensor.device).reshape(tensor.shape)
        return torch.where(other == 0, 0.25, other.double() * (0.5 + step / (3 * count))).to(tensor.dtype)


def backward_hooks(program: Program) -> Iterator[str]:
    """The modules with hooks that run in a backward pass only, which is not recorded."""
    found = {id(part): part for whole in program.parts for part in whole.modules() if not program.gradients}
    for part in found.values():
        if part._backward_hooks or part._backward_pre_hooks:
            yield program.modules.get(id(part)) or type(part).__name__


def record_calls(
    program: Program, name: str, *, calls: int = 1, watched: Collection[str] = (), probing: bool = False,
    repeats: bool = False, borrows: bool = False, again: bool = False, assure: Callable[..., Graph] = assured,
) -> Recorded:
    """Record one or two `calls` of a program; see CallRecorder. With `again`, the first call has run on other values
    too, as `assure` has it. Raises Refused as `record` does."""

    def make(program: Program) -> CallRecorder:
        return CallRecorder(program, calls, watched, probing, repeats, borrows)

    graph, recorder, outputs = recorded(program, name, make)
    assert isinstance(recorder, CallRecorder)
    try:
        confirm(graph, outputs, UNSEEN)
        returned = recorder.structures[0].tensors
        if again and returned:
            first = with_roots(graph, [root for root in graph.roots if root[0] in returned])
            graph = replace(graph, setting=assure(program, first, recorder, recorder.afresh).setting)
        return Recorded(graph, recorder.interface(), recorder.reason, recorder.fails, recorder.repeats)
    finally:
        recorder.let_go()



# ------------------------------------------------------------------------------------------------------ shared memory


def shared_memory(
    tensors: list[tuple[str, torch.Tensor]], program: Program, now: Snapshot
) -> dict[str, frozenset[tuple[str, str]]]:
    """For each output with what it shares elements: inputs, the program's own tensors, outputs before it, itself."""
    inputs = [(f"the input {name}", tensor) for name, tensor in program.inputs.items()]
    own = [*program.held, *(tensor for tensor in now.tensors.values() if has_memory(tensor))]
    there: dict[int, list[tuple[str, torch.Tensor]]] = {}
    for what, tensor in (*inputs, *(("the program's state", tensor) for tensor in own)):
        there.setdefault(address(tensor), []).append((what, tensor))
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for name, tensor in tensors:
        if not has_memory(tensor):
            continue
        others = there.setdefault(address(tensor), [])
        shared = {(what, lies(tensor, other)) for what, other in others if overlapping(tensor, other)}
        if not any(what.startswith("the ") for what, _ in shared) and expanded(tensor):
            shared.add((ITSELF, ""))
        others.append((name, tensor))
        if shared:
            found[name] = frozenset(shared)
    return found


def expanded(tensor: torch.Tensor) -> bool:
    """Whether several elements of a tensor are one in memory."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.numel() > 0 and any(n > 1 and step == 0 for n, step in steps)


def lies(tensor: torch.Tensor, other: torch.Tensor) -> str:
    """How a tensor lies in another of the same storage."""

    def steps(of: torch.Tensor) -> list[tuple[int, int]]:
        return [(n, step) for n, step in zip(of.shape, of.stride(), strict=True) if n > 1]

    start = tensor.storage_offset() * tensor.element_size() - other.storage_offset() * other.element_size()
    if start == 0 and steps(tensor) == steps(other) and tensor.dtype == other.dtype:
        return WHOLE
    return f"{tensor.dtype} from {start} by {steps(tensor)}"


LARGEST = 1 << 24                                          # bytes of a storage in which elements are told apart


def overlapping(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one storage have an element in common; taken for granted in a very large one."""
    if not a.numel() or not b.numel():
        return False
    size = a.untyped_storage().nbytes()
    if size > LARGEST or a.element_size() != b.element_size():
        return True
    with unrecorded():
        touched = torch.zeros(size // a.element_size() + 1, dtype=torch.bool)
        touched.as_strided(a.shape, a.stride(), a.storage_offset()).fill_(True)
        return bool(touched.as_strided(b.shape, b.stride(), b.storage_offset()).any())


# ------------------------------------------------------------------------------------------------- calls not recorded


class Writes(Watching):
    """Keeps a copy of memory that was there before, `tensors` by address, when it is first written."""

    def __init__(self, tensors: Mapping[int, torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tensors = tensors
        self.kept: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (inside := definition(operation)) is not None:
            with self:
                return inside(*args, **(kwargs or {}))
        given = bound(operation, args, kwargs or {})
        names = [operation._schema.arguments[position].name for position in written(operation)]
        if operation._opname in UPDATES:
            names += ["running_mean", "running_var"]
        for tensor in tensors_in([given.get(name) for name in names]):
            place = address(tensor)
            if place in self.tensors and place not in self.kept:
                storage = tensor.untyped_storage()
                self.kept[place] = storage, storage.clone()  # type: ignore[no-untyped-call]
        return operation(*args, **(kwargs or {}))

    def restore(self) -> None:
        for storage, held in self.kept.values():
            storage.copy_(held)

