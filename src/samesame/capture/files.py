"""Graphs in files: JSON, compressed if the name ends in .gz, and their tensors beside it as safetensors.

`fused.json.gz` has its tensors in `fused.safetensors`. Nothing in these files is executed when they are read.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from samesame.evidence import Refused
from samesame.graph import Graph
from samesame.graph.text import GraphError, from_json, to_json

ENDINGS = (".json.gz", ".json")


def is_graph_file(path: str) -> bool:
    """Whether a file of this name holds a saved graph."""
    return path.endswith(ENDINGS)


def save_graph(graph: Graph, path: str | Path) -> None:
    """Write a graph to `path` (.json or .json.gz), and its tensors to the .safetensors file beside it."""
    path = Path(path)
    text = json.dumps(to_json(graph), allow_nan=False, ensure_ascii=False)
    tensors = {name: stored(tensor) for name, tensor in graph.tensors.items()}
    try:
        beside = tensor_file(path)
        if path.name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            path.write_text(text, encoding="utf-8")
        save_file(tensors, beside)
    except OSError as error:
        raise Refused(f"cannot write {path}: {error.strerror or error}") from None


def load_graph(path: str | Path) -> Graph:
    """The graph saved at `path`, with its tensors. Raises Refused where a file is missing, damaged or of another
    version."""
    path = Path(path)
    beside = tensor_file(path)
    try:
        content = path.read_bytes()
        graph = from_json(json.loads(gzip.decompress(content) if path.name.endswith(".gz") else content))
        tensors = load_file(beside)
    except FileNotFoundError as error:
        raise Refused(f"{error.filename or beside} does not exist") from None
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror or error}") from None
    except GraphError as error:
        raise Refused(f"{path}: {error}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, EOFError, zlib.error) as error:
        raise Refused(f"{path} is no saved graph, or a damaged one: {error}; save it again") from None
    except SafetensorError as error:
        raise Refused(f"{beside} holds no tensors, or is damaged: {error}; save the graph again") from None
    if missing := [node.name for kind in SAVED for node in graph.sources(kind) if node.name not in tensors]:
        raise Refused(f"{beside} lacks the tensor of {missing[0]}")
    complexes = {node.name for node in graph.nodes if "complex" in getattr(node.type, "dtype", "")}
    values = {name: torch.view_as_complex(t) if name in complexes else t for name, t in tensors.items()}
    return replace(graph, tensors=values)


SAVED = ("input", "parameter", "constant")


def tensor_file(path: Path) -> Path:
    """Where the tensors of the graph at `path` are."""
    for ending in ENDINGS:
        if path.name.endswith(ending):
            return path.with_name(path.name.removesuffix(ending) + ".safetensors")
    raise Refused(f"{path} is no name for a graph; end it with .json or .json.gz")


def stored(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as safetensors can hold it: of its own memory, contiguous, complex numbers as pairs."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).clone(memory_format=torch.contiguous_format)
