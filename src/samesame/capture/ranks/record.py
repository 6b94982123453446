"""Record a distributed program: each rank in turn, in one process, with nobody else there.

`program(rank, world_size)` builds what a rank runs; a process group of one (`group.py`) lets it believe in the others.
The recorder is the one for ordinary programs with three additions. DTensors are let through to torch, which turns them
into operators on their local tensors and collectives; those are what is noted, so a rank's graph holds what this rank
computes, with local shards as parameters. Collectives become nodes in normal form (`collectives.py`), whose values
nobody may look at: they are not known before all ranks stand in one graph (`world.py`). And autograd may run: a node of
the backward pass has the origin of the operator whose derivative it is.

Sequential program and ranks are recorded alike, so that both speak of the same operators: those below autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map_only

from samesame.capture.again import Draw, confirm
from samesame.capture.alive import tensors_known
from samesame.capture.course import drawn, of_one_course
from samesame.capture.eager import eagerly
from samesame.capture.exits import Exits, guarded, may_want_gradients
from samesame.capture.memory import View, address, has_memory
from samesame.capture.ordinary import general_kernels, random_states
from samesame.capture.program import failed
from samesame.capture.ranks.collectives import (
    ARRIVED,
    COPIED,
    IGNORED,
    NAMESPACES,
    RETURNS,
    Call,
    Collective,
    communicator_of,
    demand_contiguous,
    group_of,
    is_collective,
    read_by,
    spelled,
)
from samesame.capture.ranks.ddp import bucket_of, is_marks, place_in
from samesame.capture.ranks.fsdp import PACKING, lying_in, strided, unscattered
from samesame.capture.ranks.graphs import Answer, RankGraph, told_by
from samesame.capture.ranks.group import dealing, one_of
from samesame.capture.ranks.groups import Groups, groups_noted, same_groups
from samesame.capture.ranks.heard import Hearing, Unheard, all_heard
from samesame.capture.ranks.placements import placed
from samesame.capture.ranks.program import RankProgram, local_of
from samesame.capture.ranks.waiting import Begun, Pending, UnderWay, Waiting, touched
from samesame.capture.ranks.world import alone
from samesame.capture.reading import ANSWERS, AS_ARGUMENT, INSTEAD, LETS_OUT, is_count
from samesame.capture.record import UNSEEN, Recorder
from samesame.capture.snapshot import kept
from samesame.capture.tape import dtype_of, type_of
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node, Origin, TensorType, rewritten
from samesame.operators.execute import bound, few_threads, tensors_in
from samesame.programs.named import seeded
from samesame.programs.origins import name_of_value, running_modules

FAKE = torch._C._TorchDispatchModeKey.FAKE
SIMPLER = {"aten.as_strided.default": strided}             # in other operators, if it can be said in them
AFTER = " after the call"                                  # ends the name of what a program leaves in memory of others
WITH_A_MASK = LETS_OUT["aten.index.Tensor"], INSTEAD["aten.index.Tensor"]
WRAPPERS = (DTensor, AsyncCollectiveTensor)                # tensors that are operators on other tensors


def capture_ranks(
    program: Callable[..., Any],
    example: Any,
    world_size: int,
    *,
    mesh: Mapping[str, int] | None = None,
    backward: bool = False, again: bool = False,
) -> tuple[RankGraph, ...]:
    """The graph of each rank of a distributed program.

    `program(rank, world_size)` returns the module, or the function over tensors, that a rank runs; with `mesh`, sizes
    of the dimensions of a device mesh by name, it is given that mesh as a third argument. `example(rank, world_size)`
    returns the example inputs of a rank (a tuple, or a dict by name); anything else is the inputs of every rank. Both
    are called under the same seed on every rank. With `backward`, the gradients of all parameters and of all floating
    inputs are roots too: see `Ranks.gradients`. To record `again` is to do so on other values as well (course.py).

    Values at roots and in `tensors` of what a collective gave are not those of a real run: execute the graph of all
    ranks (`world`) for these. Raises Refused, with the program's line, where a graph would not stand for the program.
    """
    if world_size < 1:
        raise Refused(f"a world of {world_size} ranks cannot be captured; give 1 or more")

    def record(rank: int, heard: Hearing) -> RankGraph:
        one = partial(_one_rank, program, example, rank, world_size, mesh, backward, heard, made[rank])
        return _one_of_all(one, again, rank, world_size)

    with tensors_known(), same_groups(world_size) as made:
        return all_heard(record, world_size)


def _one_of_all(record: Callable[[Draw], RankGraph], again: bool, rank: int, world_size: int) -> RankGraph:
    """The graph of a rank. Where the program itself fails, the number of ranks is often to blame."""
    try:
        return of_one_course(record, again, is_collective)
    except Refused as why:
        if why.__cause__ is None or isinstance(why.__cause__, SamesameError) or world_size == 1:
            raise
        raise Refused(
            f"{str(why).rstrip('.')}, on rank {rank} of {world_size}; if a dimension does not divide by {world_size}, "
            "give another world size"
        ) from why.__cause__


def capture_sequential(
    program: Any, inputs: Any, *, backward: bool = False, name: str = "sequential", again: bool = False
) -> RankGraph:
    """The graph of a program on one device, in the operators that ranks are recorded in; collectives of a world of one
    rank give what they are given."""

    def record(rank: int, heard: Hearing) -> RankGraph:
        return of_one_course(partial(_recorded, given, backward, name, 0, 1, heard), again, is_collective)

    @contextmanager
    def given() -> Iterator[tuple[Any, Any]]:
        yield program, inputs

    return alone(*all_heard(record, 1))


def _one_rank(
    program: Any, example: Any, rank: int, world_size: int, mesh: Mapping[str, int] | None, backward: bool,
    heard: Hearing, groups: Groups, draw: Draw,
) -> RankGraph:
    @contextmanager
    def built() -> Iterator[tuple[Any, Any]]:
        with one_of(rank, world_size), groups_noted(groups):
            place = () if mesh is None else (_mesh(mesh, world_size),)
            with dealing():
                with seeded(0):
                    made = _called(program, rank, world_size, *place)
                with seeded(1):
                    inputs = _called(example, rank, world_size) if _makes(example) else example
            yield made, inputs

    return _recorded(built, backward, f"rank {rank}", rank, world_size, heard, draw)


def _makes(example: Any) -> bool:
    return callable(example) and not isinstance(example, torch.Tensor)


def _mesh(sizes: Mapping[str, int], world_size: int) -> Any:
    count = prod(sizes.values())
    if count != world_size:
        raise Refused(f"the mesh {dict(sizes)} has {count} ranks, and the world {world_size}")
    return init_device_mesh("cpu", tuple(sizes.values()), mesh_dim_names=tuple(sizes))


def _called(function: Callable[..., Any], rank: int, world_size: int, *more: Any) -> Any:
    try:
        return function(rank, world_size, *more)
    except SamesameError:
        raise
    except Exception as error:
        raise failed(error, getattr(function, "__qualname__", "the program")) from error


def _recorded(
    made: Callable[[], AbstractContextManager[tuple[Any, Any]]], backward: bool, name: str, rank: int, ranks: int,
    heard: Hearing, draw: Draw,
) -> RankGraph:
    """The graph of a program on its inputs, as they are `made`: once for each attempt, as a wrapper such as
    fully_shard keeps what it was doing when the first one ended."""

    def once(program: Any, inputs: Any, gradients: bool) -> RankGraph:
        target = RankProgram(program, inputs, alone=ranks == 1)
        own = target.inputs.values(), [weight for lying in target.places.values() for weight in lying]
        with kept(target), few_threads(tensor.numel() for tensor in target.held), drawn(draw, *own):
            return Ranks(target, rank, backward, heard).graph(name, rank, ranks, gradients=gradients)

    try:
        with made() as (program, inputs):
            return once(program, inputs, backward or not isinstance(program, nn.Module))
    except Refused as why:
        if backward or not may_want_gradients(why):
            raise
    with made() as (program, inputs):
        return once(program, inputs, True)                 # a module that takes a step of training itself


# ------------------------------------------------------------------------------------------------------- the recorder


class Ranks(Recorder):  # type: ignore[no-untyped-call]
    """Notes what one rank does, collectives and gradients included."""

    program: RankProgram
    follows_statistics = False                             # below autograd, by KEEPING
    follows_rows = False

    def __init__(self, program: RankProgram, rank: int, backward: bool, heard: Hearing) -> None:
        super().__init__(program)
        self.memory.lying = self.lying
        self.rank, self.backward, self.heard = rank, backward, heard
        self.unheard = set[Node]()                         # what hangs on collectives whose results are not known
        self.tape.follow = self.follow
        self.answers: dict[Node, Answer] = {}
        self.arrived: dict[str, torch.Tensor] = {}         # what stands for a collective's result here, by its node
        self.collectives: list[Node] = []
        self.idle: list[str] = []                          # weights that have no gradient
        self.under_way = UnderWay(rank, self.here, self.called)
        self.works: list[Pending] = []                     # kept, for torch hands out what Python has of them

    def called(self, tensor: torch.Tensor) -> str:
        """What the running line calls a tensor, or one of the same memory."""
        with _disable_current_modes():
            return name_of_value(lambda value: value is tensor) or name_of_value(
                lambda value: isinstance(value, torch.Tensor) and touched(value, [tensor])
            )

    def graph(self, name: str, rank: int, world_size: int, *, gradients: bool) -> RankGraph:
        """Run the program, with or without gradients; its graph, with every collective and what it depends on."""
        dice = random_states()
        try:
            try:
                outputs = self.traced(gradients)
            finally:
                if self.under_way.found is not None:       # whatever came of it, it came of that
                    raise self.under_way.found
            outputs += self.left_behind()
            roots = [(root, self.memory.read(output)) for root, output in outputs]
            plain = self.tape.graph(name, roots, kept=[*self.collectives, *self.answers])
            confirm(self.without_collectives(plain), outputs, UNSEEN)
        finally:
            with torch.no_grad():
                self.memory.restore()
        if random_states() != dice:
            raise Refused(
                f"{self.program.title} draws random numbers (Python's or numpy's), so no two runs agree; call .eval() "
                "on the module, or pass the random number as an argument"
            )
        names = {node.name for node in plain.nodes} | {root for root, _ in roots}
        held = {name: place for name, place in self.program.placed.items() if name in names}
        return RankGraph(
            plain.name, plain.nodes, plain.roots, plain.tensors, rank=rank, world_size=world_size, placed=held,
            idle=tuple(self.idle), answers=tuple(self.answers.values()),
        )

    def without_collectives(self, graph: Graph) -> Graph:
        """The graph with what stood for the collectives' results as constants: this one can be run."""

        def make(node: Node, now: Node) -> tuple[Node]:
            return (Node(node.name, "constant", type=node.type) if is_collective(node.operator) else now,)

        cut = rewritten(graph, make)
        nodes = tuple(node for node in cut.nodes if node.type != NOTHING)
        return replace(cut, nodes=nodes, tensors=graph.tensors | self.arrived)

    def traced(self, gradients: bool) -> list[tuple[str, torch.Tensor]]:
        program = self.program
        with ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(gradients))
            for state in (eagerly(), general_kernels(), sdpa_kernel(SDPBackend.MATH)):
                stack.enter_context(state)
            self.modules = stack.enter_context(running_modules(program.modules))
            stack.enter_context(self.leaves() if self.backward else nullcontext())
            stack.enter_context(self.standing())
            stack.enter_context(guarded(self))
            stack.enter_context(Exits(self))
            stack.enter_context(self)
            outputs = program.roots(program.call())
            outputs += self.gradients(outputs) if self.backward else program.gradients_left(AFTER)
            outputs += program.put_instead(AFTER)
            outputs = [(name, self.local(name, output)) for name, output in outputs]
            self.leave(outputs)
            return outputs

    def failure(self, error: BaseException) -> SamesameError:
        return self.refused or refusal_in(error) or super().failure(error)

    def lying(self, tensor: torch.Tensor) -> View | None:
        """A tensor that was there before, and is a weight under another shape, or memory in which weights lie one after
        another: what is written into either is in the other, too."""
        weights = self.program.places.get(address(tensor), [])
        if not weights or (self.program.named(tensor) or ("constant",))[0] != "constant":
            return None
        runs = lying_in(tensor, weights)
        if runs is None:
            raise self.refusal("reads a part of a weight by a tensor made before; take that part when it is read")
        if len(runs) == 1 and runs[0][1] is not None:
            return self.memory.reshaped(tensor, runs[0][0])
        pieces = tuple(self.tape.source("constant", "between", part, self.here()) if at is None
                       else self.shaped(self.memory.read(part), (part.numel(),)) for part, at in runs)
        flat = TensorType((tensor.numel(),), dtype_of(tensor.dtype).name)
        node = self.shaped(self.tape.emit("aten.cat.default", (pieces, 0), {}, flat), tuple(tensor.shape))
        return self.memory.holding(tensor, node, [(part, at) for part, at in runs if at is not None])

    def local(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """This rank's tensor of an output, whose place in the whole is noted."""
        if isinstance(tensor, DTensor):
            self.program.placed[name] = placed(tensor)
        return local_of(tensor).detach()

    def leave(self, outputs: list[tuple[str, torch.Tensor]]) -> None:
        """The end of the program: what it gives back, and what it leaves in memory of others, has to be there."""
        for name, output in outputs:
            self.under_way.returned(f"the output {name}", output)
        for tensor in self.memory.changed:
            self.under_way.returned("what it was given or keeps", tensor)

    def left_behind(self) -> list[tuple[str, torch.Tensor]]:
        """What the program has written into its inputs, weights and buffers, by name. Of memory in which weights lie
        one after another, it is these that have names."""
        changed = [part for whole in self.memory.changed for part in self.named_parts(whole)]
        inputs = {id(tensor): name for name, tensor in self.program.inputs.items()}
        named = [(inputs.get(id(tensor)) or (self.program.named(tensor) or ("", ""))[1], tensor) for tensor in changed]
        return [(f"{name}{AFTER}", tensor) for name, tensor in named if name]

    def named_parts(self, whole: torch.Tensor) -> list[torch.Tensor]:
        """The weights that lie in a tensor which is none itself, as its parts; otherwise the tensor alone."""
        weights = self.program.places.get(address(whole), [])
        if self.program.named(whole) or not weights or lying_in(whole, weights) is None:
            return [whole]
        with torch.no_grad(), self:
            return [place_in(whole.view(-1), weight, int(whole.storage_offset())) for weight in weights]

    # ---------------------------------------------------------------------------------------------------- gradients

    @contextmanager
    def leaves(self) -> Iterator[None]:
        """Inside, floating inputs want gradients, and the weights have none yet."""
        before = [(weight, weight.grad) for weight in self.program.weights.values()]
        for weight, _ in before:
            weight.grad = None
        for tensor in self.program.leaves.values():
            tensor.requires_grad_()
        try:
            yield
        finally:
            for weight, grad in before:
                weight.grad = grad

    def gradients(self, outputs: list[tuple[str, torch.Tensor]]) -> list[tuple[str, torch.Tensor]]:
        """The gradients `grad.NAME` of all weights and floating inputs that have one.

        They are of Σ output·cotangent, and each cotangent is one more input, `cotangent.NAME`, of the output's shape on
        this rank. The outputs are the losses, that is, those that are single numbers; all, if there is none.
        """
        differentiable = [(name, y) for name, y in outputs if y.requires_grad]
        losses = [(name, y) for name, y in differentiable if y.dim() == 0] or differentiable
        if not losses:
            told = "" if self.program.alone else "; a stage of a pipeline takes its gradients itself and returns them"
            raise Refused(
                f"no output of {self.program.title} depends on a weight or an input that has a gradient{told}"
            )
        torch.autograd.backward([y for _, y in losses], [self.cotangent(name, y) for name, y in losses])
        kept = unscattered(self.program.parts)
        leaves = self.program.weights | self.program.leaves
        grads = {name: kept.get(id(leaf)) if leaf.grad is None else leaf.grad for name, leaf in leaves.items()}
        grads |= {name: self.flat_gradient(*place) for name, place in self.program.flat.items()}
        empty = {name for name, weight in self.program.weights.items() if weight.numel() == 0}
        self.idle = [name for name in grads if grads[name] is None and name not in {*empty, *self.program.leaves}]
        return [(f"grad.{name}", grad) for name, grad in grads.items() if grad is not None]

    def flat_gradient(self, flat: torch.Tensor, start: int, stop: int) -> torch.Tensor | None:
        """What the gradient of a flat weight holds from one number to another."""
        if flat.grad is not None and flat.grad.shape != flat.shape:
            raise Refused(f"{self.program.title} keeps gradients of whole weights; compute them outside of no_sync()")
        return None if flat.grad is None else flat.grad[start:stop]

    def cotangent(self, name: str, output: torch.Tensor) -> torch.Tensor:
        """A new input for the gradient that reaches this output. Of parts that add up, each gets the gradient of the
        whole."""
        local, title = local_of(output), f"cotangent.{name}"
        with _disable_current_modes(), torch.no_grad():
            dice = torch.Generator().manual_seed(1)
            value = torch.randn(local.shape, generator=dice, dtype=local.dtype)
            self.memory.fresh(value, self.tape.source("input", title, value, Origin()), source=True)
        if not isinstance(output, DTensor):
            return value
        whole = [Replicate() if isinstance(place, Partial) else place for place in output.placements]
        made = DTensor.from_local(
            value, output.device_mesh, whole, run_check=False, shape=output.shape, stride=output.stride()
        )
        self.program.placed[title] = placed(made)
        return made

    # -------------------------------------------------------------------------------------------------- one operator

    def operator(self, operation: OpOverload, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(issubclass(kind, WRAPPERS) for kind in types):
            return NotImplemented                          # torch opens it, and comes back with what is inside
        if imagined(types, list(tensors_in((*args, *kwargs.values()))), kwargs.get("device")):
            return operation(*args, **kwargs)
        self.lines.note(self.on_its_way)
        if self.program.buckets:
            self.introduce_buckets(tensors_in((*args, *kwargs.values())))
        if operation.namespace in NAMESPACES:
            return self.collective(operation, args, kwargs)
        if str(operation) == "aten.index.Tensor" and any(map(is_mask, args[1])):
            self.demand_closed(filter(is_mask, args[1]), *WITH_A_MASK)
            args = args[0], [one for index in args[1] for one in (self.positions(index) if is_mask(index) else [index])]
        self.under_way.watch(operation, bound(operation, args, kwargs))
        if str(operation) in PACKING:
            with self:
                return PACKING[str(operation)](*args, **kwargs)
        if str(operation) in SIMPLER:
            with self:
                plain = SIMPLER[str(operation)](*args, **kwargs)
            if plain is not None:
                return plain
        return self.under_way.made(super().operator(operation, types, args, kwargs))

    def introduce_buckets(self, tensors: Iterable[torch.Tensor]) -> None:
        """Make known the buckets in which these tensors lie, and their places there; any other tensor is left alone."""
        for tensor in tensors:
            if has_memory(tensor) and not self.memory.knows(tensor) and self.program.named(tensor) is None:
                if is_marks(tensor, self.program.marks):
                    self.memory.fresh(tensor, self.tape.source("constant", "used", tensor, self.here()))
                bucket = bucket_of(tensor, self.program.buckets)
                if bucket is None:
                    continue
                if not self.memory.knows(bucket):
                    zeros = torch.zeros_like(bucket)       # what it held is overwritten before it is read
                    self.memory.fresh(bucket, self.tape.source("constant", "bucket", zeros, self.here()))
                with self:
                    place_in(bucket, tensor)

    def collective(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A collective: its nodes, and in the tensors that take its result something of the right shape."""
        name, given = operation._opname, bound(operation, args, kwargs)
        if name in ARRIVED:
            while (coming := self.under_way.writing(args[0])) is not None:
                self.waited(coming)
            return self.again(args[0].detach(), args[0])
        if name in IGNORED:
            return None
        in_place = operation.namespace == "c10d"
        fresh: tuple[torch.Tensor, ...] = ()
        results: Any = None
        if not in_place:
            copied, options = tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
            results = operation(*copied, **options)
            for result in tensors_in(results):
                torch.ops._c10d_functional.wait_tensor(result)     # there is nothing to wait for
            fresh = () if name in RETURNS else tuple(tensors_in(results))
        group = group_of(given)
        if self.rank not in group:
            raise self.refusal(f"calls {name} on a group that this rank ({self.rank}) is not in, {list(group)}")
        if self.under_way.afterward is not None:
            raise self.refusal(f"calls {name} in a callback of a future, and when that runs nobody knows; wait first")
        told = {"communicator": number} if (number := communicator_of(given, group)) else {}
        try:
            words = [replace(one, attributes={**one.attributes, **told, "waits": False})
                     for one in spelled(Call(operation, given, fresh, group, self.rank))]
            for one in words:
                if in_place:
                    demand_contiguous(one)
                self.under_way.bring(read_by(one, self.rank), one.taken)
            nodes = tuple(self.note(one, fresh) for one in words)
        except Refused as why:
            raise self.refusal(str(why)) from None
        reads = () if name in COPIED else tuple(x for one in words for x in one.given)
        begun = Begun(nodes, reads, tuple(x for one in words for x in one.taken), len(self.tape.nodes))
        self.under_way.begin(begun)
        if not in_place:
            return results if fresh else given[RETURNS[name]]
        self.works.append(Pending(Waiting(begun, self.under_way, self.waited, self.refusal)))
        return answer(operation, given, self.works[-1])

    def waited(self, one: Begun) -> None:
        """The rank waits for a collective. Where it does so before anything else, it is not two steps but one."""
        if not self.under_way.end(one):
            return
        if len(self.tape.nodes) == one.before:
            for node in one.nodes:
                del node.kwargs["waits"]                   # nobody has seen these nodes yet
        else:
            self.collectives.append(self.tape.emit("collective.wait", one.nodes, {}, NOTHING))

    def note(self, one: Collective, fresh: tuple[torch.Tensor, ...]) -> Node:
        """The node of one collective; its pieces go to the tensors that take them."""
        for tensor in one.taken:
            if not any(tensor is result for result in fresh):
                self.memory.will_write(tensor)
        given = () if one.gives is None else (self.joined(one.given, one.gives),)
        like = (*one.taken, *one.given, torch.empty(()))[0]
        result = TensorType(one.takes, dtype_of(like.dtype).name) if one.takes is not None else NOTHING
        node = self.tape.emit(one.operator, given, one.attributes, result)
        self.collectives.append(node)
        if one.takes is None:
            return node
        heard = self.heard.get(node.name)
        if heard is None or not heard.closed:
            self.tape.open.add(node)
        if heard is None:
            self.unheard.add(node)
        value = plausible(one.given, one.takes, like) if heard is None else heard.value.clone()
        self.arrived[node.name] = value
        start = 0
        for tensor in one.taken:
            part, rows = (value, node), None
            if len(one.taken) > 1:
                rows = tuple(tensor.shape)[:1] or (1,)
                stop = start + rows[0]
                cut = self.tape.emit("aten.slice.Tensor", (node, 0, start, stop), {}, type_of(value[start:stop]))
                part, start = (value[start:stop], cut), stop
            self.give(tensor, *part, new=any(tensor is result for result in fresh))
        return node

    def follow(self, node: Node) -> None:
        if not self.unheard.isdisjoint(node.inputs):
            self.unheard.add(node)

    def counts_enough(self, operation: OpOverload, given: Mapping[str, Any]) -> bool:
        if is_count(operation) and self.memory.read(given["self"]) in self.unheard:
            raise self.stopped()
        return super().counts_enough(operation, given)

    def demand_closed(self, tensors: Iterable[torch.Tensor], doing: str, instead: str = AS_ARGUMENT) -> None:
        """What hangs on data may still decide if it is an answer, a number or truth, that is the same on all data: that
        is left to whoever has the world to run (refine/asked.py)."""
        for tensor in tensors:
            node = self.memory.read(tensor)
            if node in self.unheard:
                raise self.stopped()
            if node in self.tape.open and tensor.numel() <= ANSWERS.get(doing, 0) and not tensor.is_floating_point():
                with _disable_current_modes():
                    self.answers.setdefault(node, Answer(node.name, doing, self.here(), told_by(tensor)))
            else:
                super().demand_closed(iter([tensor]), doing, instead)

    def positions(self, mask: torch.Tensor) -> list[torch.Tensor]:
        """Where a mask is true, over each of its dimensions, as constants."""
        with _disable_current_modes():
            found = [torch.tensor(place, dtype=torch.long) for place in mask.nonzero().t().tolist()]
        for place in found:
            self.memory.fresh(place, self.tape.source("constant", "positions", place, self.here()))
        return found

    def stopped(self) -> SamesameError:
        """The rank goes no further: it needs what others tell it."""
        plain = self.tape.graph(f"rank {self.rank}", [], kept=self.collectives)
        told = RankGraph(plain.name, plain.nodes, (), plain.tensors, rank=self.rank)
        self.refused = self.refused or Unheard(told, self.here())
        return self.refused

    def give(self, tensor: torch.Tensor, value: torch.Tensor, node: Node, *, new: bool) -> None:
        """Put a result, or a piece of it, into a tensor: one that the collective made, or one of the program's."""
        tensor.copy_(value.reshape(tensor.shape))
        node = self.shaped(node, tuple(tensor.shape))
        if new:
            self.memory.fresh(tensor, node)
        else:
            self.memory.write(tensor, node)

    def joined(self, tensors: Sequence[torch.Tensor], shape: tuple[int, ...]) -> Node:
        """The value of these pieces in one tensor of this shape."""
        pieces = [self.memory.read(tensor) for tensor in tensors]
        if len(pieces) == 1:
            return self.shaped(pieces[0], shape)
        rows = tuple(self.shaped(part, tuple(x.shape) or (1,)) for part, x in zip(pieces, tensors, strict=True))
        return self.tape.emit("aten.cat.default", (rows, 0), {}, TensorType(shape, dtype_of(tensors[0].dtype).name))

    def shaped(self, node: Node, shape: tuple[int, ...]) -> Node:
        assert isinstance(node.type, TensorType)
        if node.shape == shape:
            return node
        return self.tape.emit("aten.reshape.default", (node, shape), {}, TensorType(shape, node.type.dtype))


NOTHING = TensorType((), "NoneType")


def plausible(given: Sequence[torch.Tensor], shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    """What stands for a collective's result while one rank is recorded: what this rank gave, over and over."""
    count = prod(shape)
    elements = torch.cat([x.detach().reshape(-1) for x in given]) if given else like.new_zeros(0)
    if elements.numel() == 0:
        return like.new_zeros(shape)
    return elements.repeat(-(-count // elements.numel()))[:count].reshape(shape).clone()


def is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype == torch.bool


def answer(operation: OpOverload, given: Mapping[str, Any], pending: Pending) -> Any:
    """What one of c10d's operators returns: the argument that takes the result, which is its first, and the work."""
    work, taker = pending.boxed(), next(iter(given.values()))
    found = tuple(work if str(part.type).endswith("Work") else taker for part in operation._schema.returns)
    return found if len(found) > 1 else found[0] if found else None


def imagined(types: Any, tensors: Sequence[torch.Tensor], device: Any) -> bool:
    """Whether an operator runs on no values: DTensor asks for shapes so, of fake tensors or on the device meta."""
    if torch._C._get_dispatch_mode(FAKE) is not None or any(issubclass(kind, FakeTensor) for kind in types):
        return True
    shapes = [tensor.device.type == "meta" for tensor in tensors]
    return all(shapes) if shapes else device is not None and torch.device(device).type == "meta"


def refusal_in(error: BaseException | None) -> SamesameError | None:
    """The refusal that an error is, or that torch has wrapped in one of its own."""
    while error is not None and not isinstance(error, SamesameError):
        error = error.__cause__ or error.__context__
    return error
