"""Targets: programs and inputs named on a command line.

`file.py:name` and `package.module:name` name a module, a function over tensors, or a class or function that makes one
when called without arguments. A file that ends in .json or .json.gz is a saved graph, one in .pt2 what torch.export
saved, one in .pt what torch.jit did, and one in .onnx a model in ONNX. `hf:DIR` and `vllm:DIR` are the model of a
checkpoint folder as Transformers and as vLLM run it, with options after a question mark; `jax:` and `inductor:` before
a name mean a function of JAX, and what Inductor receives of a program. Everything is imported and called under a fixed
seed of torch, so that the same target has the same weights each time; inputs have a seed of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn

from samesame.capture.artefacts import is_artefact_file, load_artefact, program_of
from samesame.capture.checkpoints.folders import Checkpoint, is_checkpoint, parse, tiny
from samesame.capture.checkpoints.transformers import load_hf
from samesame.capture.checkpoints.vllm import load_vllm
from samesame.capture.files import is_graph_file, load_graph
from samesame.capture.jax.program import is_jax, load_jax
from samesame.evidence import Refused
from samesame.graph import Graph
from samesame.programs.named import called, named
from samesame.programs.outputs import kind_of_value

ONNX, INDUCTOR = ".onnx", "inductor:"
LOADERS: dict[str, Callable[[Checkpoint], Any]] = {"hf": load_hf, "vllm": load_vllm}


def load_target(text: str | Checkpoint) -> Any:
    """The program that `text` names: a module, a function over tensors, or a Graph. Raises Refused where there is
    none."""
    if isinstance(text, Checkpoint):
        return load_checkpoint(text)
    for is_one, load in KINDS:
        if is_one(text):
            return load(text)
    found = named(text)
    if makes_program(found):
        found = called(found, text)
    found = program_of(found)
    if not callable(found):
        raise Refused(f"{text} is {kind_of_value(found)}, not a module or a function over tensors")
    return found


def load_checkpoint(target: str | Checkpoint) -> Any:
    """The model that `hf:DIR` or `vllm:DIR` names, as its library runs it."""
    checkpoint = parse(target) if isinstance(target, str) else target
    return LOADERS[checkpoint.library](checkpoint)


def load_inductor(text: str) -> Any:
    """The program that `inductor:TARGET` names, as Inductor receives it."""
    from samesame.capture.inductor import received

    return received(load_target(text.removeprefix(INDUCTOR)))


def load_onnx(path: str) -> Any:
    """The model in a file. Raises Refused where the packages that read it are missing."""
    try:
        from samesame.capture.onnx.program import OnnxModel
    except ModuleNotFoundError as error:
        raise Refused(f"{path} needs the package {error.name}: pip install 'samesame[onnx]'") from None
    return OnnxModel(path)


# What is no name of a program: how a text that says it is known, and what makes a program or a Graph of it.
KINDS: tuple[tuple[Callable[[str], bool], Callable[[str], Any]], ...] = (
    (is_checkpoint, load_checkpoint),
    (is_graph_file, load_graph),
    (is_jax, load_jax),
    (lambda text: text.startswith(INDUCTOR), load_inductor),
    (is_artefact_file, load_artefact),
    (lambda text: text.endswith(ONNX), load_onnx),
)


@contextmanager
def tiny_twins(texts: Sequence[str], seed: int) -> Iterator[list[Any]]:
    """The targets, a checkpoint's replaced by that of a tiny twin of its config, whose folder lasts as long as this.

    Checkpoints of one folder get one twin; options that all of them have are its config's, others stay their own.
    """
    found: list[Any] = [parse(text) if is_checkpoint(text) else text for text in texts]
    twins: dict[Path, list[Checkpoint]] = {}
    for target in found:
        if isinstance(target, Checkpoint):
            twins.setdefault(target.path.resolve(), []).append(target)
    if not twins:
        raise Refused("--tiny is for models of a checkpoint: hf:DIR and vllm:DIR")
    with TemporaryDirectory(prefix="samesame-") as place:
        folders = {}
        for number, (path, named) in enumerate(twins.items()):
            first, *others = (checkpoint.overrides for checkpoint in named)
            shared = {k: v for k, v in first.items() if all(o.get(k) == v and k in o for o in others)}
            folders[path] = tiny(path, Path(place) / str(number), shared, seed=seed)
        yield [t.in_folder(folders[t.path.resolve()]) if isinstance(t, Checkpoint) else t for t in found]


@contextmanager
def programs_of(
    targets: Sequence[str], inputs: str | None, *, tiny: bool = False, seed: int = 0
) -> Iterator[tuple[list[Any], Any]]:
    """The programs that are named and the inputs to compare them on; tiny twins of checkpoints last as long as this.
    Raises Refused."""
    with ExitStack() as folders:
        own = folders.enter_context(tiny_twins(targets, seed)) if tiny else targets
        programs = [load_target(target) for target in own]
        yield programs, load_inputs(inputs) if inputs else no_inputs(programs)


def no_inputs(programs: Sequence[Any]) -> Any:
    """Saved graphs hold the inputs they were captured on, and models of checkpoints make some; anything else needs
    them."""
    own = (example for program in programs if (example := getattr(program, "example", None)) is not None)
    if (first := next(own, None)) is not None:
        return first
    if not all(isinstance(program, Graph) for program in programs):
        raise Refused("no inputs to run both programs on: add --inputs TARGET, such as --inputs file.py:inputs")
    return ()


def load_inputs(target: Any) -> Any:
    """Example inputs: a tuple of arguments or a dict of arguments by name.

    `target` is these themselves, a function that returns them, or the text that names either.
    """
    given = named(target) if isinstance(target, str) else target
    label = target if isinstance(target, str) else "inputs"
    makes = callable(given) and not isinstance(given, torch.Tensor)
    inputs = called(given, label, seed=1) if makes else given
    if isinstance(inputs, torch.Tensor):
        return (inputs,)
    if isinstance(inputs, list):
        return tuple(inputs)
    if isinstance(inputs, tuple | Mapping):
        return inputs
    what = "returns" if inputs is not given else "is"
    raise Refused(f"{label} {what} {kind_of_value(inputs)}; give a tuple of arguments, or a dict of arguments by name")


def makes_program(found: Any) -> bool:
    """Whether this is a class, or a function that asks for no argument: something to call for a program."""
    if inspect.isclass(found):
        return True
    if isinstance(found, nn.Module) or not inspect.isroutine(found):
        return False
    try:
        return not inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False
