"""What torch.compile makes of a program: the graph that Inductor receives, before it is made into code.

Dynamo traces the program in one piece, AOTAutograd makes it functional and decomposes it, and Inductor's passes rewrite
it: those before autograd, those over the joint graph, those after, and what its config adds. Instead of being made into
code, the graph then runs operator by operator. So a comparison with the program as it is written is one of what the
compiler rewrites; of the code it is made into, `samesame fuzz` says something.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import fx, nn
from torch.nn.modules import module as hooks
from torch.overrides import _pop_mode_temporarily
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_leaves

from samesame.capture.export import Replay, silent
from samesame.capture.program import Foreign, StandIn, holdings, taking
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.programs.origins import is_users, place
from samesame.programs.outputs import kind_of_value

TRACED_AS = "L['self'].program"                            # the program's own name in what Dynamo notes
HOOKS = tuple(name for name, held in vars(hooks).items() if name.startswith("_global_") and isinstance(held, dict))


def received(program: Any) -> Received:
    """The program as Inductor receives it."""
    if not callable(program) or isinstance(program, StandIn | Foreign):
        raise Refused(f"inductor: takes a module or a function of torch's, and this is {kind_of_value(program)}")
    return Received(program, {})


def compiled(thing: Any) -> Received | None:
    """What torch.compile made of a module or function with Inductor, under the settings that it was given; None for
    what it made with another back end."""
    import torch._inductor.config

    config = thing.get_compiler_config()
    if config is None:
        return None
    usual = torch._inductor.config.get_config_copy()
    original = thing._orig_mod if isinstance(thing, nn.Module) else thing._torchdynamo_orig_callable
    return Received(original, {name: value for name, value in config.items() if value != usual.get(name)})


class Received(StandIn):
    """A module or function, traced and rewritten once for each call of other shapes. `where` is the line of the
    operator that runs."""

    def __init__(self, program: Any, settings: Mapping[str, Any]) -> None:
        super().__init__()
        object.__setattr__(self, "program", program)       # no part of this one, so that its weights have their names
        self.settings, self.where = settings, Origin()
        self.training = bool(getattr(program, "training", False))
        self.__qualname__ = getattr(program, "__qualname__", type(program).__qualname__)
        self.weights = tuple(holdings(program)[1])
        self.graphs: dict[Any, Callable[..., Any]] = {}
        self.forward = taking(program.forward if isinstance(program, nn.Module) else program, self.called)

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for kind, name, tensor in self.weights if kind == "parameter")

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for kind, name, tensor in self.weights if kind != "parameter")

    def called(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree_flatten((args, kwargs))
        key = structure, torch.is_grad_enabled(), tuple(map(kind_of_leaf, leaves))
        if key not in self.graphs:
            self.graphs[key] = self.compiled(args, kwargs)
        return self.graphs[key](*args, **kwargs)

    def compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """What runs the rewritten graph of calls with such arguments."""
        from torch._dynamo.exc import TorchDynamoException

        try:
            with compiling(self.settings):
                return self.rewritten(args, kwargs)
        except TorchDynamoException as error:
            text = (str(error).strip().splitlines() or ["no message"])[0]
            where = traced_at(error).spoken
            raise Refused(f"{where}: torch.compile does not take the program in one piece: {text}") from error

    def rewritten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The program traced, handed to Inductor, and taken back as it is about to become code."""
        from torch._dynamo import export
        from torch._inductor.compile_fx import compile_fx

        def whole(*args: Any, **kwargs: Any) -> Any:       # torch would mark the module itself
            return self.program(*args, **kwargs)

        traced = export(whole, assume_static_by_default=True)(*args, **kwargs).graph_module
        structure, traced.graph._codegen = traced.graph._codegen, fx.graph.CodeGen()
        sources = [node for node in traced.graph.nodes if node.op == "placeholder"]
        kept = [isinstance(leaf, torch.Tensor) for leaf in tree_leaves((args, kwargs))]
        for node, is_kept in zip(sources, kept, strict=True):
            if not is_kept:                                # a number or string that is part of the program
                traced.graph.erase_node(node)
        traced.recompile()
        inner: Any = self.taken_back
        run: Any = compile_fx(traced, list(tensors_in(args, kwargs)), inner_compile=inner)
        return lambda *args, **kwargs: structure.process_outputs(run(*tensors_in(args, kwargs)))

    def taken_back(
        self, graph: fx.GraphModule, inputs: Sequence[Any], *, is_inference: bool = False, **options: Any
    ) -> Callable[[list[Any]], Any]:
        """In the place of Inductor's compiler of one graph: its last passes, as it runs them, and no code."""
        from torch._inductor.compile_fx import _recursive_post_grad_passes, fake_tensor_prop
        from torch._inductor.fx_passes.post_grad import view_to_reshape
        from torch._inductor.virtualized import V

        with compiling(self.settings), torch.no_grad():    # that of gradients comes once they are asked for
            view_to_reshape(graph)
            with V.set_fake_mode(fake_tensor_prop(graph, inputs)):
                _recursive_post_grad_passes(graph, is_inference=is_inference)

        def run(given: list[Any]) -> Any:
            values = list(given)
            given.clear()
            return Rewritten(graph, self).run(*values)

        run._boxed_call = True                             # type: ignore[attr-defined]
        return run


class Rewritten(Replay):
    """Runs a rewritten graph, Inductor's own operators in torch's."""

    def module_of(self, node: fx.Node) -> str:
        return super().module_of(node).removeprefix(TRACED_AS).removeprefix(".")

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        named = IN_TORCH.get(str(target))
        return super().call_function(target, args, kwargs) if named is None else named(*args, **kwargs)


def counted(length: int, *, start: int, step: int, dtype: torch.dtype, **rest: Any) -> torch.Tensor:
    return torch.arange(start, start + length * step, step, dtype=dtype)


def in_one_pass(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    most = torch.amax(x, dim, keepdim=True)
    return most, torch.sum(torch.exp(x - most), dim, keepdim=True)


# Only what they compute: offsets into the windows of a pool stay the indices that they stand for.
IN_TORCH: dict[str, Callable[..., Any]] = {
    "prims.iota.default": counted,
    "prims.fma.default": lambda a, b, c: a * b + c,
    "prims.prepare_softmax_online.default": in_one_pass,
    "prims.inductor_force_stride_order.default": lambda x, stride: x,
    "prims._unsafe_index_put_.default": torch.ops.aten.index_put_.default,
    "prims._low_memory_max_pool_with_offsets.default": torch.ops.aten.max_pool2d_with_indices.default,
    "prims._low_memory_max_pool_offsets_to_indices.default": lambda offsets, *rest: offsets,
}


def traced_at(error: BaseException) -> Origin:
    """The user's line at which Dynamo stopped; no line where it does not tell."""
    frames = [frame for frame in getattr(error, "real_stack", None) or () if is_users(frame.filename)]
    return place(frames[-1].filename, frames[-1].lineno, frames[-1].name) if frames else Origin()


@contextmanager
def compiling(settings: Mapping[str, Any]) -> Iterator[None]:
    """Inside, torch compiles even where a program is recorded, anew each time, and in silence."""
    import torch._functorch.config
    import torch._inductor.config

    with ExitStack() as stack:
        stack.enter_context(_disable_current_modes())
        for _ in range(torch._C._len_torch_function_stack()):
            stack.enter_context(_pop_mode_temporarily())
        stack.enter_context(torch.compiler.set_stance("default"))
        for name in HOOKS:                                 # of a recorder, which would be traced too
            stack.enter_context(patch.object(hooks, name, OrderedDict()))
        stack.enter_context(torch._inductor.config.patch({"force_disable_caches": True, **settings}))
        stack.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
        stack.enter_context(silent())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    return (leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor))


def kind_of_leaf(leaf: Any) -> Any:
    """What a graph is made for: of a tensor what is known without its values, anything else itself."""
    if not isinstance(leaf, torch.Tensor):
        return type(leaf), leaf
    return tuple(map(int, leaf.shape)), tuple(map(int, leaf.stride())), leaf.dtype, leaf.requires_grad
