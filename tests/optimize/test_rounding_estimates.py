"""What the oracle estimates of rounding covers what torch's rounding does, operator by operator, on torch's own
samples: as they are, near them, and with errors in what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from operators.meaning_samples import LARGEST, OWN, Call, own, recorded
from samesame.capture import capture
from samesame.graph import Dtype, Graph, Node, TensorType
from samesame.operators.execute import execute
from samesame.operators.table import packet
from samesame.optimize import rounding
from samesame.optimize.oracle import Oracle, wide
from samesame.report.optimized import C


def made(operator: str, *args: Any) -> Call:
    space, name, overload = operator.split(".")
    return Call(operator, args, {}, getattr(getattr(getattr(torch.ops, space), name), overload)(*args))


FACTORS = {"_linalg_svd", "linalg_svd", "linalg_qr", "linalg_eigh", "_linalg_eigh"}       # signs are free
POINTWISE = ("add", "sub", "rsub", "mul", "div", "pow", "sqrt", "rsqrt", "exp", "log", "sigmoid", "tanh", "silu",
             "clamp", "sin", "atan2", "hypot", "reciprocal", "log1p", "expm1", "erf", "square", "where", "maximum",
             "cat")
NAMES = sorted({*rounding.TERMS, *rounding.INSIDE, *POINTWISE} - FACTORS)
BOUNDED = {"binary_cross_entropy", "linalg_cholesky"}      # take no numbers near those of their samples
EQUATIONS = [torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64) for _ in range(2)]
MORE: dict[str, list[Call]] = {                            # where torch's samples call an operator by another name
    **{f"linalg_{name}": [made(f"aten.linalg_{name}.default", EQUATIONS[0])]
       for name in ("inv", "inv_ex", "det", "slogdet")},
    **{f"linalg_{name}": [made(f"aten.linalg_{name}.default", *EQUATIONS)] for name in ("solve", "solve_ex", "lstsq")},
    "cosine_similarity": [made("aten.cosine_similarity.default", *EQUATIONS)],
    "embedding_bag": [made("aten.embedding_bag.default", EQUATIONS[0][0], torch.tensor([4, 0, 1, 1]),
                           torch.tensor([0, 2]))],
}


def calls_of(name: str) -> list[Call]:
    """Samples of the operator's overloads that read and return real numbers, none of which is random."""
    packed = f"aten.{name}"
    found = [call for operator, calls in recorded().items() if packet(operator) == packed for call in calls]
    found += [call for operator in OWN if operator.count(".") == 2 and packet(operator) == packed
              for call in own(operator)]
    return [*(call for call in found if fits(call)), *MORE.get(name, ())][:12]


def fits(call: Call) -> bool:
    read = [x for x in tree_leaves((call.args, call.kwargs)) if isinstance(x, torch.Tensor)]
    return (any(x.is_floating_point() for x in read) and all(x.numel() <= LARGEST and not x.is_complex() for x in read)
            and any(isinstance(x, torch.Tensor) and x.is_floating_point() for x in tree_leaves(call.result))
            and not {"dropout_p", "training"} & {*call.kwargs} and not is_random(call))


def is_random(call: Call) -> bool:
    return "attention" in call.operator and (*call.args, *(0,) * 5)[4] not in (0, 0.0)


def graph_of(call: Call, change: Callable[[torch.Tensor], torch.Tensor]) -> tuple[Graph, dict[str, torch.Tensor]]:
    """The call as a graph of float32, and its inputs, changed."""
    inputs, nodes = dict[str, torch.Tensor](), list[Node]()

    def of(argument: Any) -> Any:
        if isinstance(argument, torch.Tensor):
            x = change(argument.detach().float()) if argument.is_floating_point() else argument
            nodes.append(Node(f"x{len(nodes)}", "input", type=TensorType(tuple(x.shape), dtype_of(x))))
            inputs[nodes[-1].name] = x
            return nodes[-1]
        if isinstance(argument, torch.dtype):
            return Dtype("float32" if argument.is_floating_point else str(argument).removeprefix("torch."))
        return tuple(map(of, argument)) if isinstance(argument, list | tuple) else argument

    several = isinstance(call.result, list | tuple)
    types = tuple(TensorType(tuple(x.shape), dtype_of(x)) for x in (call.result if several else (call.result,)))
    args, kwargs = of(call.args), {name: of(value) for name, value in call.kwargs.items()}
    node = Node("result", call.operator, args, kwargs, types if several else types[0])
    return Graph("one", (*nodes, node), (("result", node),)), inputs


def dtype_of(x: torch.Tensor) -> str:
    return "float32" if x.is_floating_point() else str(x.dtype).removeprefix("torch.")


def share(call: Call, near: float, error: float, seed: int) -> float:
    """The largest share of its estimate that torch's rounding, and errors of what is read, make of an element."""
    generator = torch.Generator().manual_seed(seed)
    graph, inputs = graph_of(call, lambda x: x * (1 + near * torch.randn(x.shape, generator=generator)))
    off = {name: error * rounding.magnitude(wide(x)) for name, x in inputs.items() if error and x.is_floating_point()}
    shaken = {name: x + (off[name].float() * (2 * torch.rand(x.shape, generator=generator) - 1)) if name in off else x
              for name, x in inputs.items()}
    exact = execute(graph, {name: wide(x) for name, x in inputs.items()})["result"]
    found = execute(graph, shaken, precision="own")["result"]
    estimated = errors(graph, inputs, off)
    most = 0.0
    for x, y, e in zip(*map(each, (exact, found, estimated)), strict=True):
        if x.is_floating_point() and x.numel():
            least = torch.finfo(torch.float32).smallest_normal
            allowed = (torch.zeros_like(x) if e is None else e).nan_to_num(0.0).clamp(min=least)
            most = max(most, float(torch.where(x.isfinite() & y.isfinite(), (x - y).abs() / allowed, 0.0).max()))
    return most


def errors(graph: Graph, inputs: dict[str, torch.Tensor], off: dict[str, torch.Tensor]) -> Any:
    known = execute(graph, {name: wide(x) for name, x in inputs.items()})
    found = Oracle(graph, {}).errors(0, known, off, {"result"})["result"]
    return found if found is not None else tuple(None for _ in each(known["result"]))


def each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", NAMES)
def test_rounding_and_errors_that_are_read_stay_within_what_is_estimated(name):
    calls = calls_of(name)
    assert calls, "torch has no samples; give some in MORE"
    for call in calls:
        for seed, (near, error) in enumerate([(0.0, 0.0), (0.0, 1e-5), (1e-6, 0.0), (0.1, 0.0)]):
            if not ((near or error) and name in BOUNDED):
                assert share(call, near, error, seed) <= C, f"{call.operator} {call.args} {call.kwargs}"


@pytest.mark.parametrize("program", [
    lambda x: x.exp() * (x > 0), lambda x: x / (x > -9), lambda x: x * torch.arange(0, 0.7, 0.1) + 0.3,
    lambda x: torch.where(x > 0, 0.1, x),
], ids=["times truths", "by truths", "numbers that say how many there are", "a number that is chosen"])
def test_what_is_no_tensor_of_real_numbers_is_read_all_the_same(program):
    x = torch.randn(5, 7)
    graph = capture(program, (x,))
    answer = Oracle(graph, {})({graph.sources("input")[0].name: x}, 0, False)
    (estimate,), (exact,) = answer.whole, answer.exact
    assert bool(((program(x) - exact).abs() <= C * estimate).all())


linear, convolution = torch.nn.Linear(64, 96), torch.nn.Conv2d(4, 8, 3)
NORMS: dict[str, tuple[torch.nn.Module, tuple[int, ...]]] = {
    "layer_norm": (torch.nn.Sequential(linear, torch.nn.LayerNorm(96)), (32, 64)),
    "instance_norm": (torch.nn.Sequential(convolution, torch.nn.InstanceNorm2d(8, affine=True)), (2, 4, 9, 9)),
    "group_norm": (torch.nn.Sequential(convolution, torch.nn.GroupNorm(2, 8)), (2, 4, 9, 9)),
}


@pytest.mark.parametrize("name", NORMS)
def test_what_a_norm_makes_of_errors_is_about_what_tries_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule runs the norm once, where eight tries run it eight times."""
    module, shape = NORMS[name]
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    graph = capture(module, (x,), name="left")
    (given,) = (node.name for node in graph.sources("input"))

    def estimated() -> torch.Tensor:
        return Oracle(graph, dict(module.named_parameters()))({given: x}, 0, False).whole[0]

    known = estimated()
    monkeypatch.delitem(rounding.REACHES, name)
    tried = estimated()
    shares = torch.quantile((known / tried).flatten(), torch.tensor([0.01, 0.5, 0.99], dtype=torch.float64))
    assert shares[0] > 0.7 and 0.9 < shares[1] < 1.25 and shares[2] < 2
    assert not torch.equal(known, tried)
