"""Pickled graphs of another tool, read without running anything that they ask for.

A pickle is a program: it names classes and functions and has them called. The reader here knows a short list of names
and builds an inert record for each; whatever else a pickle names is refused with that name, before anything runs. What
comes out is plain data: `Foreign` nodes in order, whose arguments are numbers, strings, `Dtype`, tuples, dicts, `Ref`s
to earlier nodes and `Inert` records.
"""

from __future__ import annotations

import gzip
import pickle
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from samesame.evidence import Refused
from samesame.graph import Dtype, TensorType

LARGEST = 1 << 30                                          # bytes, unpacked: a graph without weights is far below


class Inert:
    """An object of the pickle as data: the arguments it was made of, and what was set on it afterwards."""

    __slots__ = ("given", "items", "state")
    given: tuple[Any, ...]
    items: list[Any]
    state: dict[Any, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:
        made = object.__new__(cls)
        made.given, made.state, made.items = args, {}, []
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Whatever is given is kept by `__new__`."""

    def __setstate__(self, state: Any) -> None:
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.state.update(part)

    def append(self, item: Any) -> None:
        self.items.append(item)

    def extend(self, items: Any) -> None:
        self.items.extend(items)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items.append((key, value))


class Metadata(Inert):
    """torch.fx's TensorMetadata: a tuple of shape, dtype, requires_grad, and how the tensor lies in memory."""

    __slots__ = ()


class PickledNode(Inert):
    """One node; its state holds `op`, `name`, `target`, `args`, `kwargs` and `meta`."""

    __slots__ = ()


class PickledGraph(Inert):
    """A graph; its state holds `nodes` in order, and the `rank` it was captured on."""

    __slots__ = ()


class Size(Inert):
    """torch's Size: made of a tuple of sizes."""

    __slots__ = ()


class Other(Inert):
    """What is carried along and never looked at."""

    __slots__ = ()


DTYPES = frozenset((
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128", "float8_e4m3fn", "float8_e5m2",
))
FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")

# Every name that a graph's pickle may use, and what stands for it here.
NAMES: dict[tuple[str, str], Any] = {
    ("torchgraph.pgraph.pickleable", "PickleableGraph"): PickledGraph,
    ("torchgraph.pgraph.pickleable", "PickleableNode"): PickledNode,
    ("torch.fx.passes.shape_prop", "TensorMetadata"): Metadata,
    **{("torch", name): Dtype(name) for name in DTYPES},
    **{("torch._utils", f"torch.{name}"): name for name in FORMATS},
    ("torch", "Size"): Size,
    ("torch", "device"): Other,
    ("torch.serialization", "_get_layout"): Other,
    ("torch.fx.traceback", "NodeSource"): Other,
    ("torch.fx.traceback", "NodeSource.NodeInfo"): Other,
    ("torch.fx.traceback", "NodeSourceAction"): Other,
    ("torch.utils._pytree", "SequenceKey"): Other,
    ("torch.fx.experimental.symbolic_shapes", "CallMethodKey"): Other,
    ("sympy.core.symbol", "Symbol"): Other,
}


class Reader(pickle.Unpickler):
    """Unpickles with inert records in the place of the classes that a graph may name, and refuses any other."""

    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(BytesIO(content))
        self.path = path

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in NAMES:
            raise Refused(
                f"{self.path} names {module}.{name}, which no captured graph needs; nothing of it was executed: "
                "save the graph anew with the tool that captured it"
            )
        found = NAMES[module, name]
        return Dtype(found.name) if isinstance(found, Dtype) else found      # a pickle may set what it is handed

    def persistent_load(self, pid: Any) -> Any:
        raise Refused(f"{self.path} refers to data outside of itself, which no captured graph needs")


# ---------------------------------------------------------------------------------------------------------------- data


@dataclass(frozen=True, slots=True)
class Ref:
    """An earlier node, as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """One node as the other tool wrote it. `kind` is placeholder, get_attr, call_function or output; `type` is what the
    tool noted of the result, None for a node of several results; `notes` is whatever else it noted."""

    kind: str
    name: str
    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    type: TensorType | None
    notes: dict[str, Any]


def read(path: Path) -> tuple[Foreign, ...]:
    """The nodes of the graph in a pickle, compressed if the file's name ends in .gz.

    Raises Refused where there is no such file, where it is no pickle of a graph, and where it names another class.
    """
    try:
        content = path.read_bytes()
        if path.name.endswith(".gz"):
            with gzip.open(BytesIO(content)) as file:
                content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise Refused(f"{path} is larger than {LARGEST >> 20} MiB, which no graph without weights is")
        return _nodes(Reader(content, path).load(), path)
    except FileNotFoundError:
        raise Refused(f"{path} does not exist") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise Refused(f"{path} is no compressed file, or a damaged one: {error}") from None
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror or error}") from None
    except Refused:
        raise
    except Exception as error:                             # a damaged pickle fails in whatever way its bytes say
        raise Refused(f"{path} is no captured graph, or a damaged one: {type(error).__name__}: {error}") from None


def _nodes(found: Any, path: Path) -> tuple[Foreign, ...]:
    nodes = found.state.get("nodes") if isinstance(found, PickledGraph) else None
    if not isinstance(nodes, list) or not nodes:
        raise Refused(f"{path} holds no graph; give the file that the capturing tool wrote")
    known: set[str] = set()
    made = []
    for node in nodes:
        made.append(_foreign(node, known, path))
        if made[-1].name in known:
            raise Refused(f"{path} has two nodes named {made[-1].name}; capture the graph again")
        known.add(made[-1].name)
    return tuple(made)


def _foreign(node: Any, known: set[str], path: Path) -> Foreign:
    state = node.state if isinstance(node, PickledNode) else {}
    texts = [state.get(name) for name in ("op", "name", "target")]
    args, kwargs, notes = state.get("args"), state.get("kwargs"), state.get("meta")
    told = all(isinstance(text, str) and text for text in texts) and isinstance(args, tuple | list)
    if not told or not isinstance(kwargs, dict) or not isinstance(notes, dict):
        raise Refused(f"{path} holds a node without a name, a target or arguments; capture the graph again")
    kind, name, target = map(str, texts)

    def plain(argument: Any) -> Any:
        if isinstance(argument, PickledNode):
            if argument.state.get("name") not in known:
                raise Refused(f"{path}: {name} reads a node that does not come before it; capture the graph again")
            return Ref(argument.state["name"])
        if isinstance(argument, tuple | list):
            return tuple(map(plain, argument))
        if isinstance(argument, dict):
            return {str(key): plain(value) for key, value in argument.items()}
        if not isinstance(argument, Dtype) or argument.name in DTYPES:
            return argument
        raise Refused(f"{path}: {name} has an argument that is no dtype; capture the graph again")

    return Foreign(kind, name, target, plain(args), plain(kwargs), _type(notes.get("tensor_meta")), notes)


def _type(noted: Any) -> TensorType | None:
    if not isinstance(noted, Metadata) or len(noted.given) < 2:
        return None
    shape, dtype = noted.given[:2]
    if isinstance(shape, Size) and shape.given:
        shape = shape.given[0]
    is_shape = isinstance(shape, tuple | list) and all(type(n) is int and n >= 0 for n in shape)
    is_dtype = isinstance(dtype, Dtype) and dtype.name in DTYPES
    return TensorType(tuple(shape), dtype.name) if is_shape and is_dtype else None
