"""Pickled graphs are read as data: what is no captured graph is refused with one sentence, and nothing of it runs."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pytest
import torch
from hypothesis import given as draws
from hypothesis import settings
from hypothesis import strategies as st

from captured_graphs import Name, call, given, graph, output, pickled, write
from samesame.capture.ranks.world import lockstep
from samesame.entangle.graphs import Asked, load
from samesame.entangle.pickled import read
from samesame.evidence import Refused
from samesame.graph import Origin, TensorType
from samesame.operators.execute import execute

ROWS = [
    given("x", (4, 6)),
    given("w", (6, 3)),
    call("mm", "aten.mm.default", (Name("x"), Name("w")), (4, 3)),
    call("again", "aten.clone.default", (Name("mm"),), (4, 3)),
    call("add", "aten.add.Tensor", (Name("again"), 1.5), (4, 3)),
    output("add"),
]


@pytest.mark.parametrize("ending", ["gpickle", "gpickle.gz"])
def test_a_graph_is_read_with_names_types_and_lines(tmp_path: Path, ending: str) -> None:
    (found,) = load([Asked(write(tmp_path / f"fw.{ending}", ROWS), "sequential")])
    assert [node.name for node in found.graph.nodes] == ["x", "w", "mm", "add"], "a clone is no node"
    assert found.aliases["again"] == "mm" and "again" in found.names
    assert found.graph["add"].type == TensorType((4, 3), "float32")
    assert found.graph["mm"].origin == Origin("/opt/model.py", 7, "forward", "mm = step()")
    assert [name for name, _ in found.graph.roots] == ["add"]


class Evil:
    """Unpickling it would call what it is made of."""

    def __init__(self, function: object, *args: object) -> None:
        self.call = function, args

    def __reduce__(self) -> object:
        return self.call


@pytest.mark.parametrize(
    "function, args",
    [
        (os.system, ("touch {}",)),
        (eval, ("open('{}', 'w')",)),
        (open, ("{}", "w")),
        (getattr, (os, "system")),
        (torch._utils._rebuild_tensor_v2, ()),
        (pickle.loads, (b"",)),
        (Path, ("{}",)),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_any_other_name_is_refused_with_it_and_nothing_runs(
    tmp_path: Path, function: object, args: tuple[object, ...], inside: bool
) -> None:
    told = [arg.format(tmp_path / "ran") if isinstance(arg, str) else arg for arg in args if arg is not os]
    evil = Evil(function, *told)
    whole = graph(ROWS)
    if inside:
        whole.nodes[0].meta["note"] = evil
    path = tmp_path / "fw.gpickle"
    path.write_bytes(pickled(whole if inside else evil))
    with pytest.raises(Refused, match="which no captured graph needs; nothing of it was executed") as refusal:
        read(path)
    assert str(path) in str(refusal.value)
    assert not (tmp_path / "ran").exists()


def test_a_name_of_our_own_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "fw.gpickle"
    path.write_bytes(b"csamesame.capture.pickled\nReader\n.")
    with pytest.raises(Refused, match=r"samesame\.capture\.pickled\.Reader"):
        read(path)


def test_a_pickle_cannot_change_what_later_ones_are_handed(tmp_path: Path) -> None:
    path = tmp_path / "fw.gpickle"
    path.write_bytes(b"\x80\x04ctorch\nfloat32\n]X\x04\x00\x00\x00evilab.")
    with pytest.raises(Refused, match="holds no graph"):
        read(path)
    (found,) = load([Asked(write(tmp_path / "good.gpickle", ROWS), "sequential")])
    assert found.graph["x"].type == TensorType((4, 6), "float32")


CONTENT = pickled(graph(ROWS))


@settings(max_examples=150)
@draws(st.integers(0, len(CONTENT) - 1))
def test_a_graph_cut_short_is_refused(tmp_path_factory: pytest.TempPathFactory, end: int) -> None:
    path = tmp_path_factory.getbasetemp() / "short.gpickle"
    path.write_bytes(CONTENT[:end])
    with pytest.raises(Refused, match=r"short\.gpickle"):
        read(path)


@settings(max_examples=100)
@draws(st.integers(0, len(CONTENT) - 1), st.integers(0, 255))
def test_a_changed_byte_makes_another_graph_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.gpickle"
    path.write_bytes(CONTENT[:at] + bytes([byte]) + CONTENT[at + 1 :])
    try:
        load([Asked(path, "sequential")])
    except Refused as refusal:
        assert "changed.gpickle" in str(refusal)


@pytest.mark.parametrize(
    "name, content, reason",
    [
        ("none.gpickle", None, "does not exist"),
        ("empty.gpickle", b"", "damaged"),
        ("text.gpickle.gz", b"no gzip", "no compressed file"),
        ("cut.gpickle.gz", gzip.compress(CONTENT)[:-20], "damaged"),
        ("list.gpickle", pickle.dumps([1, 2]), "holds no graph"),
        ("nameless.gpickle", pickled(graph([("", "", "", (), {}, None, None)])), "node without a name"),
    ],
)
def test_files_that_are_no_graphs(tmp_path: Path, name: str, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Refused, match=reason) as refusal:
        load([Asked(tmp_path / name, "sequential")])
    assert name in str(refusal.value)


@pytest.mark.parametrize(
    "row, reason",
    [
        (call("f", "mine.op.default", (Name("x"),), (4, 6)), "f is a call of mine.op.default, which is not supported"),
        (call("f", "aten.mm.default", (Name("x"), Name("x")), (4, 6)), "f does not fit its arguments"),
        (call("f", "aten.neg.default", (Name("x"),), (6, 4)), r"f has the type float32\[6, 4\] in the file"),
        (call("f", "aten.add_.Tensor", (Name("x"), Name("x")), (4, 6)), "writes to its arguments"),
        (call("f", "aten.bernoulli.default", (Name("x"),), (4, 6)), "draws random numbers"),
        (call("f", "auto_functionalized", ("mine.op.default",), None, None, x=Name("x")), "f is a call of mine.op"),
        (call("f", "aten.t.default", (None,), (6, 4)), "f cannot be read as aten.t.default"),
        (call("f", "hlo.gather", (Name("x"), Name("x"), [1], [0], [0], 1, [2, 6]), (4, 6)), "lookups of whole rows"),
    ],
)
def test_what_cannot_be_translated_is_named(tmp_path: Path, row: tuple, reason: str) -> None:
    path = write(tmp_path / "fw.gpickle", [given("x", (4, 6)), row, output("f")])
    with pytest.raises(Refused, match=reason) as refusal:
        load([Asked(path, "sequential")])
    assert str(path) in str(refusal.value)


def ranks(folder: Path, number: int) -> list[Asked]:
    """Every collective once, over all ranks, and two over the rank alone."""
    found = []
    for rank in range(number):
        own = f"alone_{rank}"
        rows = [
            given("x", (4, 2)),
            call("greatest", "_c10d_functional.all_reduce.default", (Name("x"), "max", "all"), (4, 2)),
            call("waited", "_c10d_functional.wait_tensor.default", (Name("greatest"),), (4, 2)),
            call("total", "vllm.all_reduce.default", (Name("x"), "all"), (4, 2)),
            call("rows", "_c10d_functional.all_gather_into_tensor.default", (Name("x"), number, "all"),
                 (4 * number, 2)),
            call("part", "_c10d_functional.reduce_scatter_tensor.default", (Name("x"), "sum", number, "all"),
                 (4 // number, 2)),
            call("first", "_c10d_functional.broadcast.default", (Name("x"), 1, "all"), (4, 2)),
            call("mine", "_c10d_functional.all_reduce.default", (Name("x"), "sum", own), (4, 2)),
            call("mine_too", "_c10d_functional.all_gather_into_tensor.default", (Name("mine"), 1, own), (4, 2)),
            call("last", "aten.add.Tensor", (Name("mine_too"), 1), (4, 2)),
            output("waited", "total", "rows", "part", "first", "last"),
        ]
        found.append(Asked(write(folder / f"fw.r{rank}.gpickle", rows), f"rank {rank}"))
    return found


@pytest.mark.parametrize("number", [2, 4])
def test_collectives_do_what_they_are_called(tmp_path: Path, number: int) -> None:
    captured = load(ranks(tmp_path, number))
    world = lockstep([rank.graph for rank in captured])
    xs = [torch.randn(4, 2, dtype=torch.float64) for _ in range(number)]
    results = execute(world.graph, {f"r{k}.x": x for k, x in enumerate(xs)})
    total = torch.stack(xs).sum(0)
    wanted = {"greatest": torch.stack(xs).amax(0), "total": total, "rows": torch.cat(xs), "first": xs[1]}
    for k in range(number):
        of_rank = wanted | {"part": total.chunk(number)[k], "last": xs[k] + 1}
        for name, value in of_rank.items():
            torch.testing.assert_close(results[world.places[k][name].name], value)
    members = ", ".join(map(str, range(number)))
    assert f"process group all is of the ranks whose graphs name it: {members}" in captured[0].assumptions


def test_values_that_were_not_captured_are_inputs_where_something_needs_them(tmp_path: Path) -> None:
    rows = [
        given("x", (4, 6)),
        call("memory", "aten.empty.memory_format", ([4, 6],), (4, 6)),
        call("unused", "aten.empty.memory_format", ([4, 6],), (4, 6)),
        ("get_attr", "_tensor_constant0", "_tensor_constant0", (), {}, None, None),
        call("lifted", "aten.lift_fresh_copy.default", (Name("_tensor_constant0"),), ()),
        call("sum", "aten.add.Tensor", (Name("x"), Name("memory")), (4, 6)),
        call("more", "aten.add.Tensor", (Name("sum"), Name("lifted")), (4, 6)),
        call("copied", "aten.copy.default", (Name("unused"), Name("more")), (4, 6)),
        output("copied"),
    ]
    path = write(tmp_path / "fw.gpickle", rows)
    (unknown,), (known,) = (load([Asked(path, "sequential")], constant=value) for value in (None, 2.0))
    assert unknown.uncaptured == ("memory", "lifted")
    assert known.uncaptured == ("memory",)
    assert "constants that were not captured are 2, as the case states" in known.assumptions
