"""Forms become kernels that are proved, tuned, compiled, and compute what torch does."""

from __future__ import annotations

import copy
import pickle
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.optimize.compiled_programs import compile_program, quickly, untimed
from tests.optimize.programs_as_forms import attention, beside_one_another, gated_mlp, tensor
from torch import nn
from torch.nn import functional as F

from optimize.test_reassociation import written
from samesame.capture import capture
from samesame.formula.expr import Unsupported
from samesame.optimize.algebra import specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import EAGER
from samesame.optimize.emit.places import reserved
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.facts import facts_of
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import fn, fold, load, number, plus, times
from samesame.optimize.job import loaded
from samesame.optimize.native import Native, candidates, in_stages, native, tried
from samesame.optimize.partition import orders, stages
from samesame.optimize.proving import Checked
from samesame.optimize.read import read
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.schedule import NoSchedule, Scheduled
from samesame.optimize.search import Found, Rewriting, searched
from samesame.optimize.specification import KEPT, Call, Output, Specification

Tensors = dict[str, torch.Tensor]


def made(specification: Specification) -> Native:
    return native(specification, quickly)


def gated(t: Tensors) -> torch.Tensor:
    return F.linear(F.silu(F.linear(t["x"], t["w"])) * F.linear(t["x"], t["v"]), t["z"])


def attended(t: Tensors) -> torch.Tensor:
    return F.scaled_dot_product_attention(t["q"], t["k"], t["v"], scale=0.25)


def split(t: Tensors) -> torch.Tensor:
    return F.relu(F.linear(torch.cat([t["x"], t["y"]], -1), t["w"], t["b"]))


@pytest.mark.parametrize(
    ("program", "expected"), [(gated_mlp, gated), (attention, attended), (beside_one_another, split)])
def test_kernels_compute_what_torch_does(
    program: Callable[[], Specification], expected: Callable[[Tensors], torch.Tensor]
) -> None:
    specification = program()
    found = made(specification)
    tensors = {name: torch.randn(t.shape) for name, t in specification.tensors.items()}
    weights = [name for name, t in specification.tensors.items() if t.role == "weight"]
    inputs = [name for name in tensors if name not in weights]
    run = compile_program(found.program, inputs, weights, [output.name for output in specification.outputs])
    run = pickle.loads(pickle.dumps(copy.deepcopy(run)))       # as a drop-in is, with the model around it
    (result,) = run(*(tensors[name] for name in run.arguments))
    result = result.as_strided(*found.layout(specification.outputs[0]))
    torch.testing.assert_close(result, expected(tensors), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("masked", [True, False])
def test_scores_are_what_their_largest_was_taken_of(masked: bool) -> None:
    """A product that is rounded once for the maximum, and not at all on its way into exp(c·s − max), is far above it
    where scores are large: e to the power of that is infinite, and the row NaN."""

    def program(scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(0.1767767 * (scores.masked_fill(scores == 0, -torch.inf) if masked else scores), -1)

    scores = torch.randn(24, 40, generator=torch.Generator().manual_seed(0)) * 1e13
    specification = read(capture(program, (scores,)))
    found = made(specification)
    run = compile_program(found.program, list(specification.tensors), [], [o.name for o in specification.outputs])
    (result,) = run(scores)
    torch.testing.assert_close(result.view(24, 40), program(scores))


def test_what_keeps_a_logarithm_finite_is_not_lost_in_a_sum_of_numbers() -> None:
    """1 + 10⁻⁸ is 1 in float32: taken together, a probability of 1 leaves the logarithm of 0."""
    def program(x: torch.Tensor) -> torch.Tensor:
        return -(1 - x.sigmoid() + 1e-8).log() * 0.75

    x = torch.linspace(-60, 60, 41 * 9).view(41, 9)
    specification = read(capture(program, (x,)))
    found = made(specification)
    run = compile_program(found.program, list(specification.tensors), [], [o.name for o in specification.outputs])
    (result,) = run(x)
    torch.testing.assert_close(result.view(41, 9), program(x), rtol=1e-5, atol=1e-6)


IN_ORDER = {
    "sums of columns": (lambda x: x.sum(0), (37, 70), "folds beside"),
    "maxima of columns": (lambda x: x.amax(0) * 2, (37, 70), "folds beside"),
    "means in the middle": (lambda x: x.mean(1), (3, 19, 40), "folds beside"),
    "deviations of columns": (lambda x: (x - x.mean(0)) / (x.std(0) + 1e-5), (37, 70), "folds beside"),
    "softmax of columns": (lambda x: x.softmax(0), (37, 70), "folds beside"),
    "a pool": (lambda x: F.max_pool2d(x, 2), (2, 3, 12, 38), "folds beside"),
    "a pool of means": (lambda x: F.avg_pool2d(x, (3, 2)), (2, 3, 12, 38), "folds beside"),
    "a matrix and its transpose": (lambda x: x + x.t().exp(), (41, 41), "tiles"),
    "heads": (lambda x: (x.transpose(1, 2) * 2).contiguous(), (2, 21, 33), "tiles"),
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_memory_is_gone_through_in_its_order(name: str) -> None:
    program, shape, how = IN_ORDER[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    specification = read(capture(program, (x,)))
    found = made(specification)
    assert any(scheduled.map.startswith(how) for scheduled in found.chosen), [s.map for s in found.chosen]
    run = compile_program(found.program, list(specification.tensors), [], [o.name for o in specification.outputs])
    (result,) = run(x)
    torch.testing.assert_close(result.as_strided(*found.layout(specification.outputs[0])), program(x),
                               rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("difference", [
    lambda x, y, a, b: x * a - y * b,
    lambda x, y, a, b: 0.3 * x - 0.3 * y,
    lambda x, y, a, b: torch.relu(x * a - torch.relu(y * b)),
    lambda x, y, a, b: (x * a - y * b).sum(-1),
], ids=["products", "with a number", "with a function", "summed up"])
def test_what_is_equal_leaves_nothing_where_it_is_subtracted(difference: Callable[..., torch.Tensor]) -> None:
    """Products that are rounded each leave zero; in a multiply-add, what rounding took from one of them."""
    x, a = torch.rand(24, 40), torch.rand(24, 1)
    given = (x, x.clone(), a, a.clone())
    specification = read(capture(difference, given))
    found = made(specification)
    run = compile_program(found.program, list(specification.tensors), [], [o.name for o in specification.outputs])
    named = dict(zip(("x", "y", "a", "b"), given, strict=True))
    (result,) = run(*(named[name] for name in run.arguments))
    assert not result.any()


def test_a_concatenation_is_split_where_its_parts_meet() -> None:
    specification = beside_one_another()
    graph = capture(lambda x, y, w, b: F.relu(F.linear(torch.cat([x, y], -1), w, b)),
                    tuple(torch.zeros(t.shape) for t in specification.tensors.values()))
    assert faithful(graph, specification, [output.form for output in specification.outputs]) == ()
    elsewhere = beside_one_another(behind="m").outputs
    assert faithful(graph, specification, [output.form for output in elsewhere]) is None


class Attended(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v)


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * scale


def heads(several: int) -> Sequence[torch.Tensor]:
    return [part.unflatten(-1, (2, 8)).transpose(1, 2) for part in torch.randn(1, 5, 16 * several).chunk(several, -1)]


@pytest.mark.parametrize(("module", "inputs"), [
    (Attended(), heads(3)),
    (Scaled(), (torch.randn(9, 21).t(), torch.randn(21, 1).expand(21, 9))),
    (Scaled(), (torch.randn(9, 42)[:, ::2], torch.randn(40).unfold(0, 21, 2)[:9])),
    (nn.Linear(20, 7), (torch.randn(1, 20).expand(3, 20),)),
], ids=["heads", "turned", "sliced", "expanded"])
def test_inputs_are_read_where_they_lie_and_results_lie_as_they_did(
    module: nn.Module, inputs: Sequence[torch.Tensor]
) -> None:
    result, expected = computed(module, inputs)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5, check_stride=True)


def computed(module: nn.Module, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What kernels make of the inputs, and what the module does."""
    (result,), (expected,) = several(module, inputs)
    return result, expected


def several(
    module: nn.Module, inputs: Sequence[torch.Tensor]
) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]:
    """The same of a module with several results."""
    specification = specified(module, inputs, capture(module, inputs))
    whole, kept = in_stages(specification, [root.form for root in specification.roots()])
    given = dict(zip(specification.arguments, inputs, strict=True)) | {
        **dict(module.named_parameters()), **dict(module.named_buffers())}
    found = native(whole, untimed, kept)
    weights = [name for name, t in whole.tensors.items() if t.role == "weight"]
    outputs = [output.name for output in whole.outputs]
    run = compile_program(found.program, specification.arguments, weights, outputs)
    with torch.no_grad():
        results, expected = run(*(given[name].detach() for name in run.arguments)), module(*inputs)
    laid = (result.as_strided(*found.layout(output)) for result, output in zip(results, whole.outputs, strict=True))
    return tuple(laid), expected if isinstance(expected, tuple) else (expected,)


class Hidden(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up = nn.LayerNorm(20), nn.Linear(20, 37)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.where(mask, F.gelu(self.up(self.norm(x))), -torch.inf), -1)


def test_doubles_are_computed_as_doubles() -> None:
    module, inputs = Hidden().double(), (torch.randn(3, 20, dtype=torch.float64), torch.rand(3, 37) > 0.2)
    result, expected = computed(module, inputs)
    assert result.dtype == torch.float64
    torch.testing.assert_close(result, expected, rtol=1e-13, atol=1e-15)


class Beside(nn.Module):
    """Features that are three parts beside one another, which a layer reads as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(27, 9)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.up(torch.cat([x, y, 2 * x], -1).tanh())


def test_a_layer_reads_a_concatenation_that_is_not_split() -> None:
    result, expected = computed(Beside(), (torch.randn(7, 10), torch.randn(7, 7)))
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


class Last(nn.Module):
    """The last row of each sequence, and every second column: views of what is computed."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.relu(x)[:, -1], x.exp().transpose(0, 1)[..., ::2], x.sum(1)


def test_a_result_with_gaps_is_computed_without_and_spread(tmp_path: Path) -> None:
    """Strides are the original's; a result that lies whole stays as the kernels made it."""
    module, x = Last(), torch.randn(3, 5, 8)
    graph = capture(module, (x,))
    specification = specified(module, (x,), graph)
    assert [output.strides for output in specification.outputs] == [None, (4, 20, 1), None]
    (found, *_) = candidates(graph, specification, searched(specification), untimed, {})
    facts = facts_of(module, (x,), found, EAGER)
    assert facts["gaps"] == [(40, 1), (8, 40, 2), None]
    fast = loaded(write_files(tmp_path / "found", files_of(found, facts))).optimized(module)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="the original runs")
        for mine, own in zip(fast(x), module(x), strict=True):
            assert mine.stride() == own.stride()
            torch.testing.assert_close(mine, own)


def test_windows_that_overlap_have_no_gaps_to_be_spread_over() -> None:
    """Who writes into one of them writes into its neighbour."""
    class Slid(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x).unfold(1, 4, 1)

    module, x = Slid(), torch.randn(3, 8)
    specification = specified(module, (x,), capture(module, (x,)))
    assert facts_of(module, (x,), Candidate("", ""), EAGER)["gaps"] == []
    with pytest.raises(NoSchedule, match=r"output 0 has the strides \[8, 1, 1\], with gaps between"):
        in_stages(specification, [root.form for root in specification.roots()])


def test_what_shares_memory_within_itself_has_no_kernels() -> None:
    class Windows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x)[:, :1].expand(3, 8)

    x = torch.randn(3, 8)
    specification = specified(module := Windows(), (x,), capture(module, (x,)))
    with pytest.raises(NoSchedule, match=r"output 0 has the strides \[.*\], with gaps between"):
        in_stages(specification, [root.form for root in specification.roots()])


def test_what_stays_a_call_of_torch_has_no_kernels() -> None:
    with pytest.raises(NoSchedule, match=r"a call of torch, aten\.sort"):
        in_stages(replace(gated_mlp(), calls=(Call("aten.sort.default", (), (), ("r",)),)), ())


class Turned(nn.Module):
    """Scores of an attention with rotary embeddings: queries and keys are read whole and by halves."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(24, 24, bias=False), nn.Linear(24, 12, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        def turned(y: torch.Tensor) -> torch.Tensor:
            y = y.unflatten(-1, (-1, 6)).transpose(1, 2)
            low, high = y.chunk(2, -1)
            return y * cos + torch.cat((-high, low), -1) * sin

        q, k = turned(self.q(x)), turned(self.k(x)).repeat_interleave(2, 1)
        return torch.softmax(q @ k.mT, -1)


def test_what_is_read_whole_and_in_parts_is_kept_and_not_computed_again() -> None:
    module, inputs = Turned().eval(), (torch.randn(1, 5, 24), torch.randn(5, 6), torch.randn(5, 6))
    graph = capture(module, inputs)
    specification = read(graph)
    forms = [root.form for root in specification.roots()]
    assert len(specification.calls) == 2 and faithful(graph, specification, forms) is not None
    for wrong in ([times(number(2), forms[0]), *forms[1:]], [*forms[:2], times(number(2), forms[2])]):
        assert faithful(graph, specification, wrong) is None
    whole, kept = in_stages(specification, forms)
    found = native(whole, untimed, kept)
    tensors = dict(zip(("x", "cos", "sin"), inputs, strict=True)) | dict(module.named_parameters())
    paths = {name: tensor.path or name for name, tensor in whole.tensors.items() if tensor.role != "result"}
    weights = [name for name, tensor in whole.tensors.items() if tensor.role == "weight"]
    run = compile_program(found.program, [name for name in paths if name not in weights], weights, ["result 0"])
    with torch.no_grad():
        (result,) = run(*(tensors[paths[name]].detach() for name in run.arguments))
        torch.testing.assert_close(result.view(1, 4, 5, 5), module(*inputs), rtol=1e-4, atol=1e-5)


class Heads(nn.Module):
    """Queries and keys of projections of their own, cut into as many heads."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(12, 12, bias=False), nn.Linear(12, 12, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k = (part(x).view(2, 5, 3, 4).transpose(1, 2) for part in (self.q, self.k))
        return torch.softmax(q @ k.mT, -1)


def test_heads_of_two_projections_are_as_many() -> None:
    module, x = Heads().eval(), torch.randn(2, 5, 12)
    whole, kept = in_stages(specification := read(capture(module, (x,))), [r.form for r in specification.roots()])
    found = native(whole, untimed, kept)
    weights = dict(module.named_parameters())
    run = compile_program(found.program, ["x"], list(weights), ["result 0"])
    with torch.no_grad():
        (result,) = run(*({"x": x, **weights}[name].detach() for name in run.arguments))
        torch.testing.assert_close(result.view(2, 3, 5, 5), module(x), rtol=1e-4, atol=1e-5)


class Swapped(nn.Module):
    """Halves of heads change places, where a dimension beside them is made of two axes."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(24, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.q(x).unflatten(-1, (4, 6)).transpose(1, 2).flatten(2)
        return heads - torch.cat((heads[:, 2:], heads[:, :2]), 1) + heads[..., 6:12].sum(-1, keepdim=True)


def test_a_kept_value_has_a_dimension_for_each_axis(tmp_path: Path) -> None:
    module, x = Swapped().eval(), torch.randn(2, 5, 24)
    graph = capture(module, (x,))
    specification = read(graph)
    forms = [root.form for root in specification.roots()]
    (call,) = specification.calls
    assert call.operator == KEPT and specification.tensors[call.results[0]].shape == (2, 4, 5, 6)
    assert faithful(graph, specification, forms) == ()
    fast = written(source(specification, forms), tmp_path, module)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), module(x))


def test_an_order_of_sums_is_proved_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a wrong one is refused, whatever the factors are."""
    x, a, b = load("x", "m", "k"), load("a", "k", "l"), fn("exp", load("b", "l", "n"))
    form = fold("sum", ("k", "l"), times(x, a, b))
    tensors = {"x": tensor("x", 3, 8, role="input"), "a": tensor("a", 8, 4), "b": tensor("b", 4, 5)}
    outputs = (Output("y", form, (("m",), ("n",)), "float32"),)
    specification = Specification("chain", tensors, dict(m=3, k=8, l=4, n=5), outputs)
    assert len(list(orders(form, specification.extents))) == 1 and made(specification)

    from samesame.optimize import partition

    rightly = partition.paired
    monkeypatch.setattr(partition, "paired", lambda *given: times(number(2), rightly(*given)))
    with pytest.raises(NoSchedule, match="not proved to be its form"):
        made(specification)


def test_stages_that_are_not_the_form_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong cut is found although each of its kernels is proved."""
    x, w = load("x", "m", "k"), load("w", "n", "k")
    wrong = (Output("y", fold("sum", "k", times(x, x, w)), (("m",), ("n",)), "float32"),)
    right = (Output("y", fold("sum", "k", times(x, w)), (("m",), ("n",)), "float32"),)
    tensors = {"x": tensor("x", 3, 20, role="input"), "w": tensor("w", 5, 20)}
    specification = Specification("wrong", tensors, dict(m=3, n=5, k=20), right)
    from samesame.optimize import native as module

    cut = module.stages
    monkeypatch.setattr(module, "stages", lambda outputs, *others: cut(wrong, *others))
    with pytest.raises(NoSchedule, match="not proved to be its form"):
        made(specification)


class Named(nn.Module):
    """Returns its result under the name of its argument."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"x": F.silu(self.linear(x)) + 1}


def test_an_output_may_be_called_as_an_input_is() -> None:
    """And no input can be called as what is kept between stages is."""
    graph = capture(Named().eval(), (torch.randn(3, 24),))
    specification, counts = read(graph), dict[str, int]()
    (found, *_) = candidates(graph, specification, searched(specification), untimed, counts)
    assert found.native and found.settled().faithful and "result x" in found.source and counts["schedules proved"]
    assert not any(stage.target.isidentifier() for stage in stages(gated_mlp().outputs, gated_mlp().extents)[:-1])


def test_the_least_of_a_row_is_a_kernel() -> None:
    graph = capture(lambda x: x.amin(-1) + x[:, 0], (torch.randn(3, 24),))
    specification = read(graph)
    (found, *_) = candidates(graph, specification, searched(specification), untimed, {})
    assert found.native and found.settled().faithful


def test_a_form_is_faithful_or_it_is_not() -> None:
    """Another form than the program's, such as one that a wrong row of the table would read, is not taken for it."""
    graph = capture(Named().eval(), (torch.randn(3, 24),))
    specification = read(graph)
    (form,) = [output.form for output in specification.outputs]
    assert faithful(graph, specification, [form]) == ()
    for wrong in (plus(form, number(1)), times(form, form), plus(form, form)):
        assert faithful(graph, specification, [wrong]) is None


def test_names_of_tensors_stay_apart_in_cpp() -> None:
    names = ["0", "n0", "a.b", "a_b", "x", "float", "t1", "größe"]
    assert len({reserved(name) for name in names}) == len(names)
    assert all(reserved(name).isidentifier() and reserved(name).isascii() for name in names)


def test_a_search_keeps_to_its_time_within_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where proofs take long each group of stages has its share of the time, and is content with what is proved then;
    where nothing is, there are no kernels. How long the proofs may take is said to them."""
    from samesame.optimize import native as module

    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    def proved(scheduled: Scheduled, seconds: float) -> Checked:
        assert 0 < seconds <= until - clock.now
        clock.now += 10.0
        return Checked(True)

    monkeypatch.setattr(Scheduled, "proved", proved)
    for until, expected in ((500.0, 6), (40.0, 3), (15.0, 0)):
        clock = Clock()
        monkeypatch.setattr(module, "time", clock)
        if expected:
            assert native(gated_mlp(), untimed, until=until).counts["schedules proved"] == expected
        else:
            with pytest.raises(NoSchedule, match="there was no time left"):
                native(gated_mlp(), untimed, until=until)


def test_a_program_that_takes_long_to_read_is_not_searched() -> None:
    """A recurrent network that is written out is thousands of operators deep."""
    x = torch.randn(2, 8)
    module = nn.Sequential(*(nn.Tanh() for _ in range(5)))
    graph = capture(module, (x,))
    late = time.monotonic() - 1
    with pytest.raises(Unsupported, match="its 6 operators take longer to be read as formulas; give it more"):
        specified(module, (x,), graph, late)
    specification = specified(module, (x,), graph)
    assert len(searched(specification, late).candidates) == 1
    with pytest.raises(NoSchedule, match="there was no time left"):
        next(iter(candidates(graph, specification, searched(specification), untimed, {}, until=late)))


class Scaled(nn.Module):
    """With numbers that no module holds, one of them infinite."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) * torch.tensor([1.0, 2.5, 3.0]) + torch.tensor([0.0, float("-inf"), 1.0])


def test_small_constants_are_written_out(tmp_path: Path) -> None:
    """A file of kernels has them beside the weights, which its drop-in finds by their paths."""
    module, x = Scaled().eval(), torch.randn(5, 8)
    graph = capture(module, (x,))
    specification = specified(module, (x,), graph)
    (found, *_) = candidates(graph, specification, searched(specification), untimed, {})
    facts = facts_of(module, (x,), found, EAGER)
    program = loaded(write_files(tmp_path / "found", files_of(found, facts))).optimized(module)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="the original runs")
        torch.testing.assert_close(program(x), module(x))


def test_a_part_of_each_head_lies_within_its_head() -> None:
    """A projection of keys and values side by side, head by head: where the values begin in a head is a number, and so
    is a head's width."""
    class Latent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Linear(16, 3 * (8 + 4), bias=False)

        def forward(self, q: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
            k, v = self.up(latent).view(-1, 3, 12).transpose(0, 1).split([8, 4], dim=-1)
            return torch.softmax(q @ k.transpose(1, 2), -1) @ v

    torch.testing.assert_close(*computed(Latent().eval(), (torch.randn(3, 1, 8), torch.randn(9, 16))))


class Dequantized(nn.Module):
    """Weights of few bits, by groups of columns, and the product with them; what wraps around stays torch's."""

    def __init__(self, dtype: torch.dtype, real: torch.dtype) -> None:
        super().__init__()
        limits = torch.iinfo(dtype)
        self.register_buffer("w", torch.randint(limits.min, limits.max + 1, (37, 5, 6), dtype=dtype))
        self.register_buffer("zeros", torch.randint(0, 9, (37, 5, 1), dtype=dtype))
        self.register_buffer("scales", torch.rand(37, 5, 1, dtype=real) / limits.max)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = (self.w.to(x.dtype) - self.zeros) * self.scales
        return F.linear(x, w.flatten(1))


@pytest.mark.parametrize(("dtype", "real"), [
    (torch.int8, torch.float32), (torch.uint8, torch.bfloat16), (torch.int16, torch.float64)])
def test_integers_of_few_bits_are_read_as_they_are(dtype: torch.dtype, real: torch.dtype) -> None:
    module, x = Dequantized(dtype, real).eval(), torch.randn(3, 30, dtype=real)
    result, expected = computed(module, (x,))
    rounding = 3e-2 if real is torch.bfloat16 else 1e-4
    torch.testing.assert_close(result.view(3, 37), expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("program", [
    lambda x, y: (x + y).float() * 0.5, lambda x, y: (x.clamp(min=7) * 2).float(), lambda x, y: (x + y.long()).float(),
    lambda x, y: (-x).float() + y], ids=["sum", "clamp", "wider", "sign"])
def test_integers_of_few_bits_wrap_around_in_torch(program: Callable[..., torch.Tensor]) -> None:
    """And so no form adds them up."""
    x, y = (torch.randint(0, 256, (4, 6), dtype=torch.uint8) for _ in range(2))
    specification = read(capture(program, (x, y)))
    assert [call for call in specification.calls if call.operator != KEPT]


def test_there_is_no_form_of_complex_numbers() -> None:
    """|z|² is no z²."""
    def power(x: torch.Tensor) -> torch.Tensor:
        return torch.fft.rfft(x)[..., 1:].abs() ** 2

    specification = read(capture(power, (torch.randn(3, 8),)))
    assert [call.operator for call in specification.calls][-1].startswith("aten.abs")
    assert all(tensor.dtype != "complex64" or tensor.role == "result" for tensor in specification.tensors.values())


def test_kernels_are_made_of_the_forms_that_multiply_least() -> None:
    """What lies between folds takes no memory in a kernel, so that a form may not be dearer than torch's operators."""
    forms = [Rewriting((number(k),), (), {"time": time, "multiplications": flops, "loops": 1.0})
             for k, time, flops in ((1, 1.0, 9.0), (2, 2.0, 2.0), (3, 3.0, 1.0))]
    asked = list[Rewriting]()

    def make(one: Rewriting) -> Iterator[tuple[Candidate, Counter[str]]]:
        asked.append(one)
        yield from ()

    with pytest.raises(NoSchedule):
        list(tried(Found(tuple(forms)), make, {}))
    assert asked == [forms[2], forms[1]]


class Counted(nn.Module):
    """A mean over what a mask leaves, a share of it, and what is above a count."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        count = mask.sum(-1).clamp(min=1)
        return (x * mask).sum(-1) / count, x / mask.sum(), torch.where(x > mask.sum(-1, keepdim=True) / 20, x, 0.0)


def test_truths_are_counted() -> None:
    inputs = torch.randn(5, 37), torch.rand(5, 37) > 0.6
    for found, expected in zip(*several(Counted().eval(), inputs), strict=True):
        torch.testing.assert_close(found.to(expected.dtype), expected)
    (call,) = read(capture(lambda mask: mask.sum() + 1, (torch.ones((1 << 24) + 1, dtype=torch.bool),))).calls
    assert call.operator.startswith("aten.sum")
