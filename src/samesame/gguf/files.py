"""Files: the tensors of a GGUF file, in one piece or in parts, and those of a checkpoint, in one file or in shards.

llama.cpp cuts large files into NAME-00001-of-00003.gguf and so on; each part says which one it is (`split.no`, from
zero) and how many there are (`split.count`), and the first has what is said of all. Any of them stands for the whole.
A checkpoint in shards has an index, which says in which file each tensor is. What is missing is named: weights of half
a model are no answer about the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import torch
from safetensors import SafetensorError, safe_open

from samesame.evidence import Refused

PREFIX = "gguf:"
MAGIC = b"GGUF"
VERSIONS = (2, 3)                                          # of the format, that gguf reads
PART = re.compile(r"(.*-)(\d{5})-of-(\d{5})\.gguf")
INDEX = "model.safetensors.index.json"


class Weights:
    """The tensors of a checkpoint folder, by name, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for path in shards(folder):
            try:
                held: Any = safe_open(path, "pt")
            except (SafetensorError, OSError) as error:
                raise Refused(f"{path} holds no tensors, or is damaged: {error}") from None
            for name in held.keys():                                # noqa: SIM118 (it is no dict)
                self.files[name] = held
                self.shapes[name] = tuple(held.get_slice(name).get_shape())
        if not self.files:
            raise Refused(f"{folder} has no .safetensors; a GGUF file is compared with a checkpoint's own files")

    def __getitem__(self, name: str) -> Any:
        tensor: torch.Tensor = self.files[name].get_tensor(name)
        return (tensor if tensor.dtype is torch.float16 else tensor.float()).numpy()

    def stacked(self, names: tuple[str, ...]) -> Any:
        return self[names[0]] if len(names) == 1 else numpy.stack([self[name] for name in names])


def shards(folder: Path) -> list[Path]:
    """The files that hold a checkpoint's tensors: those that its index names, all of them, or whatever lies there."""
    index = folder / INDEX
    if not index.is_file():
        return sorted(folder.glob("*.safetensors"))
    try:
        names = sorted({str(name) for name in json.loads(index.read_text())["weight_map"].values()})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(f"{index} does not say which file holds each tensor (weight_map); fetch it again") from None
    for name in names:
        if not (folder / name).is_file():
            raise Refused(f"{folder / name} is missing, which {INDEX} names; fetch that file, too")
    return [folder / name for name in names]


def is_gguf(text: str) -> bool:
    """Whether a target names a GGUF file."""
    return text.startswith(PREFIX)


def read(file: str) -> tuple[Mapping[str, Any], str]:
    """The tensors by name of the GGUF file that `gguf:FILE` names, those of all its parts, and its architecture."""
    path = Path(file.removeprefix(PREFIX)).expanduser()
    reader = opened(path)
    count = number(reader, "split.count", 1)
    readers = [reader] if count == 1 else [opened(part) for part in parts(path, count)]
    if count != 1:
        demand_parts(path, readers, count)
    told = readers[0].get_field("general.architecture")
    if told is None:
        raise Refused(f"{path} names no architecture, so nobody knows what its tensors are")
    return {tensor.name: tensor for one in readers for tensor in one.tensors}, str(told.contents())


def opened(path: Path) -> Any:
    """One GGUF file."""
    try:
        import gguf
    except ImportError:
        raise Refused(f"{PREFIX}{path} needs the package gguf: pip install 'samesame[gguf]'") from None
    if not path.is_file():
        raise Refused(f"{path} does not exist" if not path.exists() else f"{path} is no file")
    try:
        with path.open("rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}") from None
    if start[:4] != MAGIC:
        raise Refused(f"{path} is no GGUF file: it does not begin with the letters GGUF")
    if len(start) == 8 and not set(VERSIONS) & {int.from_bytes(start[4:], order) for order in ("little", "big")}:
        raise Refused(f"{path} is damaged, or of a version of GGUF that is not known; give one of version "
                      f"{VERSIONS[-1]}")
    try:
        return gguf.GGUFReader(path)
    except Exception as error:                             # whatever numpy says of bytes that are not there
        raise Refused(f"{path} is a damaged GGUF file, or one that was cut off ({path.stat().st_size} bytes): what "
                      "its header announces is not there; fetch or convert it again") from error


def number(reader: Any, key: str, otherwise: int) -> int:
    """What a file says of its parts."""
    told = reader.get_field(key)
    return otherwise if told is None else int(told.contents())


def parts(path: Path, count: int) -> list[Path]:
    """All parts of a file of which this is one. Raises Refused where their names cannot be known, or one is missing."""
    named = PART.fullmatch(path.name)
    if named is None or int(named[3]) != count:
        raise Refused(f"{path} is one of {count} parts (split.count), which its name does not say; call them "
                      f"NAME-00001-of-{count:05}.gguf and so on, as llama.cpp does")
    found = [path.with_name(f"{named[1]}{k:05}-of-{count:05}.gguf") for k in range(1, count + 1)]
    for part in found:
        if not part.is_file():
            raise Refused(f"{part} is missing, one of the {count} parts of {path.name}; put it beside the others")
    return found


def demand_parts(path: Path, readers: list[Any], count: int) -> None:
    """Raises Refused where these are not the parts of one file, each where its name says, with all tensors."""
    names = [tensor.name for reader in readers for tensor in reader.tensors]
    total = number(readers[0], "split.tensors.count", len(names))
    for place, (reader, part) in enumerate(zip(readers, parts(path, count), strict=True)):
        said = number(reader, "split.no", -1), number(reader, "split.count", 1)
        if said != (place, count):
            raise Refused(f"{part} is not part {place + 1} of {count}: its split.no is {said[0]} (from 0) and its "
                          f"split.count {said[1]}; put the right file there")
    if len(names) != total or len(set(names)) != total:
        raise Refused(f"the {count} parts of {path.name} hold {len(set(names))} tensors of {total} "
                      "(split.tensors.count): they are not of one file; fetch or convert them again")
