"""Entangle's own graphs: both sides run with small sizes; what should be equal is, and the bugs show at their tensors.

The graphs are read from beside the checkout; without them these tests are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from samesame.capture.ranks.world import lockstep
from samesame.entangle.case import Case, Sides, load_case
from samesame.evidence import Refused
from samesame.formula.expr import Unsupported
from samesame.formula.tensor import leaf
from samesame.graph import Graph, Node, TensorType, at
from samesame.graph.text import text_form
from samesame.operators.execute import execute
from samesame.operators.explain import bind, explain
from samesame.operators.opaque import kind_of_type
from samesame.operators.table import meaning_of
from samesame.relate.layout import values
from samesame.relate.propose import agree

DATA = Path(__file__).parents[2] / "shared" / "data" / "entangle"
LAYERNORM = DATA / "bug_missing_layernorm_allreduce"
REFINES = ("gpt", "qwen2", "aws_llama")
BUGS = ("bug_grad_accumulation", "bug_missing_layernorm_allreduce", "backward")

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="Entangle's graphs are not beside the checkout")


def backward(folder: Path) -> Path:
    """The whole forward and backward graph of one bug, with nothing stated but names."""
    both = {
        "format": "refinement-case/1",
        "case": "backward",
        "seq": str(LAYERNORM / "tp1" / "both.g0.r0.gpickle.gz"),
        "dist": [str(LAYERNORM / "tp2_bug" / f"both.g0.r{rank}.gpickle.gz") for rank in (0, 1)],
        "unstated": "by name and shape",
        "const_tensor_value": 0,
    }
    path = folder / "backward.json"
    path.write_text(json.dumps(both))
    return path


@pytest.fixture(scope="module")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    folder = tmp_path_factory.mktemp("cases")

    @cache
    def load(name: str) -> Case:
        return load_case(backward(folder) if name == "backward" else DATA / name / "relation.json")

    return load


def run(sides: Sides) -> tuple[dict[str, Any], dict[str, Any]]:
    """Every tensor of the sequential program, and of the ranks by `r<rank>.<name there>`."""
    world = lockstep(sides.ranks)
    left, right = execute(sides.sequential, sides.sequential.tensors), execute(world.graph, world.graph.tensors)
    told = {f"r{k}.{name}": right[node.name] for k, place in enumerate(world.places) for name, node in place.items()}
    return left, told


def wrong(sides: Sides) -> list[str]:
    """Checked outputs of ranks that are not what is expected of them."""
    left, right = run(sides)
    return [name for name, layout in sides.expected.items() if not agree(values(layout, left.__getitem__), right[name])]


@pytest.mark.parametrize("name", REFINES)
def test_what_should_be_equal_is(name: str, case_of: Callable[[str], Case]) -> None:
    case = case_of(name)
    for seed in range(3):
        sides = case.shrunk(seed)
        assert len(sides.expected) == 2 and wrong(sides) == []


def test_what_should_be_equal_is_not_where_a_rank_holds_another_shard(case_of: Callable[[str], Case]) -> None:
    sides = case_of("gpt").shrunk()
    first, second = (dict(graph.tensors) for graph in sides.ranks)
    first["primals_10"], second["primals_10"] = second["primals_10"], first["primals_10"]
    for graph, held in zip(sides.ranks, (first, second), strict=True):
        graph.tensors.update(held)
    assert wrong(sides) == ["r0.div_2", "r1.div_2"]


def test_gradient_accumulation_without_its_half_shows(case_of: Callable[[str], Case]) -> None:
    sides = case_of("bug_grad_accumulation").shrunk()
    assert wrong(sides) == ["r0.add_3"]
    left, right = run(sides)
    loss, others = left["div"], (right["r0.mean"], right["r0.mean_1"])
    torch.testing.assert_close(sum(others), 2 * loss)


def test_the_missing_all_reduce_shows_where_the_configuration_cuts(case_of: Callable[[str], Case]) -> None:
    sides = case_of("bug_missing_layernorm_allreduce").shrunk()
    assert wrong(sides) == ["r0.getitem_58", "r1.getitem_58"]
    left, right = run(sides)
    torch.testing.assert_close(right["r0.getitem_58"] + right["r1.getitem_58"], left["getitem_58"])


# The gradients of what is replicated while the sequence is sharded; those of key and query norms run over own heads.
NOT_REDUCED = {
    "add_24": "input norm, weight", "add_25": "input norm, bias", "add_13": "norm before the MLP, weight",
    "add_14": "norm before the MLP, bias", "add_15": "bias after attention", "add_8": "bias after the MLP",
    "add_19": "query norm, weight", "add_20": "query norm, bias", "add_17": "key norm, weight",
}


def test_the_missing_all_reduces_show_on_the_whole_forward_and_backward(case_of: Callable[[str], Case]) -> None:
    case = case_of("backward")
    sides = case.shrunk()
    assert len(sides.expected) == 44
    assert set(wrong(sides)) == {f"r{rank}.{name}" for name in NOT_REDUCED for rank in (0, 1)}
    left, right = run(sides)
    weight = "fused_layer_norm_affine_bwd"
    assert any(node.name.startswith(weight) for node in sides.sequential.nodes)
    torch.testing.assert_close(right["r0.getitem_58"] + right["r1.getitem_58"], left["getitem_58"])


@pytest.mark.parametrize("name", [*REFINES, *BUGS])
def test_the_captured_graphs_are_a_member_of_those_over_symbols(name: str, case_of: Callable[[str], Case]) -> None:
    case = case_of(name)
    captured, family = case.as_captured, case.over_symbols
    for graph, general in zip(graphs(captured), graphs(family), strict=True):
        assert text_form(at(general, case.sizes.captured)) == text_form(graph)
    for graph, general in zip(graphs(case.shrunk()), graphs(family), strict=True):
        assert text_form(at(general, case.sizes.small)) == text_form(graph)


def graphs(sides: Sides) -> Iterator[Graph]:
    yield sides.sequential
    yield from sides.ranks


@pytest.mark.parametrize("name", [*REFINES, *BUGS])
def test_small_sizes_are_small_and_tell_roles_apart(name: str, case_of: Callable[[str], Case]) -> None:
    case = case_of(name)
    small = case.sizes.small
    assert len(set(small.values())) == len(small) and max(small.values()) <= 20
    assert set(small) == set(case.sizes.captured)
    elements = sum(int(torch.tensor(n.shape).prod()) for g in graphs(case.shrunk()) for n in g.nodes
                   if isinstance(n.type, TensorType))
    assert elements < 3_000_000


# What the sizes of each case are made of, as captured. Of gpt: batch; heads of a rank; the widths of a query's and of a
# value's head; half a sequence and the width, both 768; positions; a rank's part of the MLP, and of both vocabularies.
ROLES = {
    "gpt": [8, 12, 32, 32, 768, 768, 1536, 1536, 49152, 49152],
    "qwen2": [6, 64, 1536, 4480, 32768, 32768, 75968],
    "aws_llama": [4, 4, 4, 32, 64, 64, 2048, 4096, 64128],
    "bug_grad_accumulation": [4],
    "bug_missing_layernorm_allreduce": [32, 512, 1536, 1536, 3072, 49152],
    "backward": [16, 32, 48, 48, 512, 1536, 2048, 2048, 3072, 49152],
}


@pytest.mark.parametrize("name", ROLES)
def test_sizes_are_made_of_as_few_roles_as_there_are(name: str, case_of: Callable[[str], Case]) -> None:
    assert sorted(case_of(name).sizes.captured.values()) == ROLES[name]


@pytest.mark.parametrize("name", [*REFINES, *BUGS])
def test_every_tensor_has_the_type_that_running_gives_it(name: str, case_of: Callable[[str], Case]) -> None:
    sides = case_of(name).shrunk()
    for graph in (sides.sequential, lockstep(sides.ranks).graph):
        found = execute(graph, graph.tensors, precision="own")
        for node in graph.nodes:
            kinds = node.type if isinstance(node.type, tuple) else (node.type,)
            parts = found[node.name] if isinstance(node.type, tuple) else (found[node.name],)
            for part, kind in zip(parts, kinds, strict=True):
                assert tuple(part.shape) == kind.shape, node.name
                kept = (kind.dtype, "float32") if node.operator.startswith("aten.native_layer_norm.") else (kind.dtype,)
                assert str(part.dtype).removeprefix("torch.") in kept or is_mean(node), f"{node.name}: {part.dtype}"


def is_mean(node: Node) -> bool:
    """Statistics of a norm, which kernels for half precision keep in their own or in single precision."""
    return node.operator.startswith("aten.native_layer_norm") or any(is_mean(part) for part in node.inputs[:1])


@pytest.mark.parametrize("name", [*REFINES, *BUGS])
def test_every_operator_has_a_meaning_for_all_sizes(name: str, case_of: Callable[[str], Case]) -> None:
    """But attention of vLLM, which is opaque, and writes at positions that a block has to look into."""
    family = case_of(name).over_symbols
    unknown = {"samesame.attention_of_group.default", "aten.index_put.default"}
    for graph in (family.sequential, lockstep(family.ranks).graph):
        for node in graph.nodes:
            if node.is_source or node.operator in (*unknown, "getitem"):
                continue
            meaning = meaning_of(node.operator)
            assert meaning is not None, node.operator
            args, kwargs = bind(node.operator, formulas(node.args), formulas(node.kwargs))
            try:
                meaning(*args, **kwargs)
                explain(node, formulas)
            except Unsupported as reason:
                raise AssertionError(f"{node.name}: {node.operator}: {reason}") from reason


def formulas(argument: Any) -> Any:
    """Arguments with a leaf in the place of each tensor."""
    if isinstance(argument, Node):
        if isinstance(argument.type, tuple):
            kinds = enumerate(argument.type)
            return tuple(leaf(f"{argument.name}.{k}", kind.shape, kind_of_type(kind)) for k, kind in kinds)
        return leaf(argument.name, argument.type.shape, kind_of_type(argument.type))
    if isinstance(argument, dict):
        return {name: formulas(value) for name, value in argument.items()}
    return tuple(map(formulas, argument)) if isinstance(argument, tuple) else argument


def test_hints_are_not_used_and_what_is_taken_for_granted_is_told(case_of: Callable[[str], Case]) -> None:
    assert case_of("gpt").hints == ("empty",)
    assert case_of("qwen2").hints == ("embedding",)
    assert {"broadcast.86", "broadcast.93"} <= set(case_of("aws_llama").hints)
    told = {name: " ".join(case_of(name).assumptions) for name in REFINES}
    assert "dropout is off" in told["gpt"] and "constants that were not captured are 0" in told["gpt"]
    assert "key-value head" in told["qwen2"] and "group tp:0 is of the ranks" in told["qwen2"]
    assert "hlo.gather" in told["aws_llama"]
    assert "constant.22" in case_of("aws_llama").shrunk().sequential.tensors, "what was not captured is an input"
    assert "tangents_13" in case_of("backward").guessed


# ---------------------------------------------------------------------------------------- statements that do not hold


def changed(name: str, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    file = json.loads((DATA / name / "relation.json").read_text())
    file["seq"], file["dist"] = str(DATA / file["seq"]), [str(DATA / path) for path in file["dist"]]
    change(file)
    path = folder / "changed.json"
    path.write_text(json.dumps(file))
    return path


def entry(file: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(e for e in file["relation"] if e.get("seq") == name)
    return found


def tensor(side: str, name: str) -> dict[str, str]:
    return {"t": side, "id": name}


def sliced(side: str, name: str, dim: int, start: int, end: int) -> dict[str, Any]:
    return {"op": "slice", "args": [tensor(side, name)], "dim": dim, "start": start, "end": end}


def replicated_too(file: dict[str, Any]) -> None:
    """Another sequential weight is said to lie where one lies already."""
    entry(file, "primals_8")["alternatives"] = [tensor("D0", "primals_7"), tensor("D1", "primals_7")]


def swapped(file: dict[str, Any]) -> None:
    """A second statement has the shards the other way round."""
    alternatives = entry(file, "primals_10")["alternatives"]
    alternatives.append({**alternatives[0], "args": alternatives[0]["args"][::-1]})


def overlapping(file: dict[str, Any]) -> None:
    parts = [sliced("D0", "arg3_1", 0, 0, 768), sliced("D1", "arg3_1", 0, 0, 768),
             sliced("D0", "arg3_1", 0, 700, 956), sliced("D1", "arg3_1", 0, 768, 1024)]
    entry(file, "arg3_1")["alternatives"] = [{"op": "concat", "args": parts, "dim": 0}]


def with_a_gap(file: dict[str, Any]) -> None:
    parts = [sliced("D0", "arg8_1", 0, 0, 768), sliced("D0", "arg8_1", 0, 768, 1000),
             sliced("D1", "arg8_1", 0, 1000, 1536)]
    entry(file, "arg8_1")["alternatives"] = [{"op": "concat", "args": parts, "dim": 0}]


def with_a_gap_in_front(file: dict[str, Any]) -> None:
    parts = [sliced("D0", "arg8_1", 0, 100, 1536), sliced("D1", "arg8_1", 0, 0, 100)]
    entry(file, "arg8_1")["alternatives"] = [{"op": "concat", "args": parts, "dim": 0}]


def twice_the_size(file: dict[str, Any]) -> None:
    whole = entry(file, "primals_7")["alternatives"]
    entry(file, "primals_7")["alternatives"] = [{"op": "concat", "args": whole, "dim": 0}]


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda file: file["relation"].remove(entry(file, name))


def of_the_bias(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """Something else is stated of a bias that every rank holds."""
    return lambda file: entry(file, "primals_7").update(changes)


def expecting(*tensors: dict[str, str]) -> Callable[[dict[str, Any]], object]:
    return lambda file: file.update(expected_equal=[list(tensors)])


def equal_heads(file: dict[str, Any]) -> None:
    heads = [sliced("D0", "arg3_1", 0, 768, 896), sliced("D1", "arg3_1", 0, 768, 896)]
    entry(file, "arg3_1").update(dist_equal=[heads])


REFUSED: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("gpt", replicated_too,
     r"contradicts itself about primals_7 of rank 0: it is said to be primals_7\[0:768\] and primals_8\[0:768\]"),
    ("gpt", swapped,
     r"contradicts itself about primals_10 of rank 0: it is said to be primals_10\[0:1536, 0:768\] and primals_10\["),
    ("qwen2", overlapping, r"contradicts itself about arg3_1 of rank 0: its parts overlap"),
    ("qwen2", with_a_gap, "says nothing of 1000:1536 along dimension 0 of arg8_1 of rank 0"),
    ("qwen2", with_a_gap_in_front, "says nothing of 0:100 along dimension 0 of arg8_1 of rank 0"),
    ("qwen2", equal_heads,
     r"contradicts itself about arg3_1 of rank 1: it is said to be arg3_1\[1664:1792\] and arg3_1\[1536:1664\]"),
    ("gpt", twice_the_size, r"says that primals_7, of shape \[768\], is concat.*, of shape \[1536\]"),
    ("gpt", without("primals_12"),
     "states no relation of primals_12 of rank 0, primals_12 of rank 1, and outputs depend on them"),
    ("gpt", of_the_bias(seq="weight"), "states a relation of weight, and the sequential graph has no such tensor"),
    ("gpt", of_the_bias(alternatives=[tensor("D0", "weight")]),
     "relates primals_7 to weight, which the graph of D0 has not"),
    ("gpt", of_the_bias(alternatives=[tensor("D2", "primals_7")]), "speaks of 'D2', and there are S and D0 to D1"),
    ("gpt", of_the_bias(alternatives=[tensor("D0", "add_1")]), "add_1 of D0, which is no input there"),
    ("gpt", of_the_bias(alternatives=[{"op": "sum", "args": []}]), "is no tensor, concat or slice"),
    ("gpt", expecting(tensor("S", "loss"), tensor("D0", "div_2")), "has no tensor loss"),
    ("gpt", expecting(tensor("S", "div_2"), tensor("D0", "div_2")), "expects something of div_2 on some ranks only"),
    ("gpt", lambda file: file.update(expected_equal=[]), "the graphs return 32, 34, 34 tensors; pair them"),
    ("gpt", lambda file: file.update(world_size=4), "names 2 graphs of ranks in `dist`; it needs one for each rank"),
    ("gpt", lambda file: file.update(dist=["nowhere.gpickle.gz"] * 2), "nowhere.gpickle.gz does not exist"),
    ("gpt", lambda file: file.update(format="other"), "is no case file"),
]


@pytest.mark.parametrize("name, change, reason", REFUSED)
def test_statements_that_do_not_hold_together_are_refused_with_the_tensors(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    path = changed(name, tmp_path, change)
    with pytest.raises(Refused, match=reason) as refusal:
        load_case(path)
    assert "\n" not in str(refusal.value)


def test_what_nothing_is_stated_of_is_related_by_name_where_the_file_says_so(tmp_path: Path) -> None:
    def named(file: dict[str, Any]) -> None:
        without("primals_12")(file)
        without("primals_7")(file)
        file["unstated"] = "by name and shape"

    case = load_case(changed("gpt", tmp_path, named))
    assert set(case.guessed) == {"primals_7", "primals_12"}
    assert wrong(case.shrunk()) == []
    assert str(case.as_captured.layouts["r1.primals_12"]) == "slice(primals_12; 1, 1536:3072)"


def test_equal_parts_of_ranks_place_what_the_relation_leaves_out(tmp_path: Path) -> None:
    """Both ranks hold the first key-value head: only one of them is in the sequential tensor's expression."""

    def shared(file: dict[str, Any]) -> None:
        file["relation"][:] = [e for e in file["relation"] if e.get("seq") == "arg8_1"]
        file["unstated"] = "by name and shape"
        entry(file, "arg8_1").update(
            alternatives=[tensor("D0", "arg8_1")], dist_equal=[[tensor("D0", "arg8_1"), tensor("D1", "arg8_1")]]
        )
        file["expected_equal"] = [[tensor("S", "detach_1"), tensor("D0", "detach_1"), tensor("D1", "detach_1")]]

    case = load_case(changed("qwen2", tmp_path, shared))
    assert {name: str(layout) for name, layout in case.as_captured.layouts.items()} == {
        "r0.arg8_1": "arg8_1", "r1.arg8_1": "arg8_1",
    }
