"""Apart: no file that a run writes is one that it reads, or one that it writes under another option.

A slip of the hand (`--html model.py`) would cost the user's own program. So before a command does anything, its
options are looked through here, for all verbs at once: what they write is named in `WRITES`, what they read in `READS`,
and targets are taken apart into the files they stand for. What a program imports is not known yet; so a file that is
there and ends as programs and weights do is never written over, whoever reads it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from samesame.cli.streams import reported
from samesame.evidence import SamesameError

# Options (and an argument) that name what is written; those that name what is read, by their names in Python.
WRITES = ("--json", "--html", "--junit", "--sarif", "--certificate", "--resume", "--save", "--store", "--out",
          "--scripts", "exported")
TENSORS = "--save, its tensors,"
READS = ("left", "right", "more", "target", "targets", "inputs", "against", "job", "case", "file", "waive", "graphs",
         "certificate")
PREFIXES = ("hf:", "vllm:", "gguf:", "jax:", "inductor:")
CHECKPOINT = ("*.safetensors", "*.bin", "*.index.json", "config.json", "generation_config.json", "tokenizer*")
PROGRAMS = (".py", ".pyi", ".ttir", ".toml", ".onnx", ".data", ".pt", ".pth", ".pt2", ".safetensors", ".gguf", ".bin")


class Apart(TyperCommand):
    """A command that begins only where nothing that it reads would be lost."""

    def invoke(self, ctx: Any) -> Any:
        with reported(False):
            demand_apart(written(self.params, ctx.params), list(read(self.params, ctx.params)))
        return super().invoke(ctx)


def demand_apart(outputs: Mapping[str, Path], inputs: list[Path]) -> None:
    """Raises SamesameError where an output is an input, a program or weights, or another output."""
    for option, path in outputs.items():
        if any(same(path, other) for other in inputs):
            raise SamesameError(f"{option} would write over {path}, which this run reads; give another file")
        again = option == TENSORS and os.path.isfile(outputs["--save"])
        if path.suffix in PROGRAMS and os.path.isfile(path) and not again:
            raise SamesameError(f"{option} would write over {path}, which may be a program or weights; give another "
                                "file, or remove that one first")
    for (one, path), (other, beside) in combinations(outputs.items(), 2):
        if same(path, beside):
            raise SamesameError(f"{one} and {other} are both to be written to {path}; give each a file of its own")


def same(one: Path, other: Path) -> bool:
    """Whether two paths are of one file, be it there or not yet."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def written(parameters: list[Any], given: Mapping[str, Any]) -> dict[str, Path]:
    """What the options write, by option; `-` is no file, nor is what nobody asked for, nor a pipe or device."""
    found = {}
    for parameter in parameters:
        option = next((name for name in parameter.opts if name in WRITES), None)
        value = given.get(parameter.name)
        if option is not None and isinstance(value, str) and value not in ("", "-", parameter.default):
            if not os.path.exists(value) or os.path.isfile(value) or os.path.isdir(value):
                found[option if option.startswith("-") else parameter.metavar] = Path(value)
            if option == "--save":
                found[TENSORS] = tensors_of(Path(value))
    return found


def read(parameters: list[Any], given: Mapping[str, Any]) -> Iterator[Path]:
    """The files that arguments and options name to be read."""
    for parameter in parameters:
        if parameter.name in READS and not set(parameter.opts) & set(WRITES):
            value = given.get(parameter.name)
            for text in value if isinstance(value, list | tuple) else (value,):
                if isinstance(text, str) and text:
                    yield from files_of(text)


def files_of(text: str, folder: Path = Path()) -> Iterator[Path]:
    """The files that a target stands for, as far as its words say: itself, what comes before a name in it, a module's
    own file, a checkpoint's, and what a file of entries names in its turn."""
    for prefix in PREFIXES:
        text = text.removeprefix(prefix)
    place = text.partition("?")[0]
    while place:
        path, module = folder / os.path.expanduser(place), folder / f"{place.replace('.', '/')}.py"
        if os.path.isdir(path):
            yield from (file for pattern in CHECKPOINT for file in path.glob(pattern))
        elif os.path.isfile(path):
            yield path
            yield tensors_of(path)
            if path.suffix == ".toml":
                yield from files_named_in(path)
        elif os.path.isfile(module):
            yield module
        place = place.rpartition(":")[0]


def files_named_in(path: Path) -> Iterator[Path]:
    """The files that the entries of a suite name."""
    try:
        entries: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return                                             # the verb says what is wrong with it
    asked = [entries]
    while asked:
        value = asked.pop()
        if isinstance(value, str) and not value.endswith(".toml"):
            yield from files_of(value, path.parent)
        elif isinstance(value, dict | list):
            asked += value.values() if isinstance(value, dict) else value


def tensors_of(path: Path) -> Path:
    """Where the tensors of a saved graph lie."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".json") + ".safetensors")
