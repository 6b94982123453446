"""A drop-in computes what the original does, whatever it is called with; where what was proved does not cover a call
the original runs, and a warning says why."""

from __future__ import annotations

import copy
import io
import warnings
from contextlib import nullcontext

import pytest
import torch
from pooled import AVERAGED_FIRST, Pooled, averaged_first, inputs, module
from torch import nn

from samesame.capture import capture
from samesame.check import check
from samesame.evidence import Rung, Sizes, Verdict
from samesame.formula.expr import Size, mod
from samesame.formula.region import Condition, Region
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import DEFAULT, EAGER, FROZEN, STEPS, by_compiler
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The file of a candidate that is proved for every B ≥ 2, with a count of how often it ran."""
    place, candidate = tmp_path_factory.mktemp("found"), averaged_first()
    facts = facts_of(module, inputs, candidate, EAGER)
    file = write_files(place / "first", files_of(candidate, facts))
    program = unguarded(module, file, dict(module.named_parameters()), facts)
    verdict = check(module, program, inputs, certify=True)
    assert verdict.verdict == "same" and str(verdict.evidence) == "proved for all sizes"
    facts = facts_of(module, inputs, candidate, EAGER, verdict)
    written = loaded(write_files(place / "second", files_of(candidate, facts)))
    written.runs, forward = 0, written.Fast.forward

    def counted(self, x):
        written.runs += 1
        return forward(self, x)

    written.Fast.forward = counted
    return written


def called(found, program, original, *args, **kwargs) -> int:
    """How often the found program ran in a call that must give what the original gives."""
    before = found.runs
    torch.testing.assert_close(program(*args, **kwargs), original(*args, **kwargs))
    return found.runs - before


def test_it_runs_what_was_found_at_every_size_that_was_proved(found):
    program = found.optimized(module)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (600, 2, 601):
            assert called(found, program, module, torch.randn(rows, 48)) == 1
        assert called(found, program, module, x=torch.randn(7, 48)) == 1


def test_it_runs_at_the_sizes_of_the_example_alone_where_others_have_conditions():
    rows = Size("B", 2)

    def covered(*conditions):
        sizes = Sizes(places={("x", 0): rows}, region=Region({"B": (2, None)}, conditions))
        verdict = Verdict("same", Rung.PROVED, sizes=sizes)
        return facts_of(module, inputs, averaged_first(), EAGER, verdict)

    assert covered()["bounds"] == {"B": (2, None)} and "sizes" in covered()["inputs"]["x"]
    even = covered(Condition("=", mod(rows, 2), 0))
    assert even["bounds"] == {} and "sizes" not in even["inputs"]["x"]
    assert even["proved"] == "what was proved, the sizes of the example"


NOT_COVERED = {
    "which is not covered by what was proved, B ≥ 2": lambda: torch.randn(1, 48),
    "has the shape": lambda: torch.randn(3, 5, 48),
    "has the strides": lambda: torch.randn(48, 600).t(),
    "is torch.float64 on cpu, and was torch.float32 on cpu": lambda: torch.randn(600, 48, dtype=torch.float64),
}


@pytest.mark.parametrize("why", NOT_COVERED)
def test_what_is_not_covered_goes_to_the_original_with_a_sentence(found, why):
    x = NOT_COVERED[why]()
    original = copy.deepcopy(module).to(x.dtype)
    program = found.optimized(original)
    with torch.no_grad(), pytest.warns(UserWarning, match=why):
        assert called(found, program, original, x) == 0


@pytest.mark.parametrize("why, state", [
    ("gradients are recorded", torch.enable_grad()),
    ("autocast is on", torch.autocast("cpu", dtype=torch.bfloat16)),
    ("in training mode", nullcontext()),
])
def test_a_mode_that_is_not_the_examples_goes_to_the_original(found, why, state):
    original = copy.deepcopy(module).train(why.startswith("in training"))
    program = found.optimized(original)
    with torch.no_grad(), state, pytest.warns(UserWarning, match=why):
        assert called(found, program, original, inputs[0]) == 0


def test_a_part_in_another_mode_goes_to_the_original(found):
    original = copy.deepcopy(module)
    program = found.optimized(original)
    next(part for part in original.modules() if part is not original).train()
    with torch.no_grad(), pytest.warns(UserWarning, match="a part of the module is in another mode"):
        assert called(found, program, original, inputs[0]) == 0


def test_it_sees_weights_that_are_changed_replaced_or_cast(found):
    original = copy.deepcopy(module)
    program = found.optimized(original)
    with torch.no_grad():
        original.linear.weight.mul_(2)
        assert called(found, program, original, inputs[0]) == 1
        original.linear.weight = nn.Parameter(torch.randn(48, 48))
        assert called(found, program, original, inputs[0]) == 1
        original.linear.weight = nn.Parameter(torch.randn(7, 48))
        with pytest.warns(UserWarning, match=r"linear.weight has the shape \(7, 48\)"):
            assert called(found, program, original, inputs[0]) == 0
        original.linear.double()
        with pytest.warns(UserWarning, match=r"linear.weight is torch.float64"), pytest.raises(RuntimeError):
            program(inputs[0])                             # as the original does


def test_it_sees_that_a_part_was_replaced_a_weight_removed_or_a_hook_added(found):
    x = inputs[0]
    with torch.no_grad():
        original = copy.deepcopy(module)
        program = found.optimized(original)
        original.linear = nn.Linear(48, 48)
        with pytest.warns(UserWarning, match="a part of the module is another one now"):
            assert called(found, program, original, x) == 0
        original = copy.deepcopy(module)
        program = found.optimized(original)
        handle = original.linear.register_forward_hook(lambda module, args, output: output + 1)
        with pytest.warns(UserWarning, match="a hook of the module was added or removed"):
            assert called(found, program, original, x) == 0
        handle.remove()
        assert called(found, program, original, x) == 1
        del original.linear._parameters["weight"]
        original.linear.weight = torch.randn(48, 48)
        with pytest.warns(UserWarning, match="the weight weight is no longer there"):
            assert called(found, program, original, x) == 0


class Twice(nn.Module):
    """Two layers with one weight, and a place where no bias is."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)])
        self.parts[1].weight = self.parts[0].weight
        self.register_buffer("shift", None)
        self.eps = eps

    def forward(self, x):
        for part in self.parts:
            x = part(x) + self.eps
        return x if self.shift is None else x + self.shift


TWICE = """
class Fast:
    def __init__(self, weights):
        self.weight = weights["parts.0.weight"]

    def __call__(self, x):
        Fast.runs += 1
        return ((x @ self.weight.t() + 1e-5) @ self.weight.t() + 1e-5,)

    runs = 0
"""


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    candidate = Candidate("twice", TWICE, ("parts.0.weight",))
    facts = facts_of(Twice().eval(), (torch.randn(3, 4),), candidate, EAGER)
    return loaded(write_files(tmp_path_factory.mktemp("twice") / "found", files_of(candidate, facts)))


def other_weight() -> nn.Parameter:
    return nn.Parameter(torch.randn(4, 4))


class Tripled(nn.Linear):
    def forward(self, x):
        return 3 * super().forward(x)


def appended(original):
    original.parts.append(nn.Linear(4, 4).eval())


def of_another_class(original):
    original.parts[1].__class__ = Tripled


BUILT = {
    "parts.0.weight and parts.1.weight are no longer one tensor":
        lambda original: setattr(original.parts[1], "weight", other_weight()),
    "parts.0.weight and parts.1.weight are no longer one tensor ":
        lambda original: setattr(original.parts[0], "weight", other_weight()),
    "with other parts or weights": appended,
    "is another one now": lambda original: setattr(original.parts[1], "bias", nn.Parameter(torch.randn(4))),
    "is another one now ": lambda original: setattr(original, "shift", torch.randn(4)),
    "of another class": of_another_class,
}


@pytest.mark.parametrize("why", BUILT)
def test_it_sees_that_the_module_is_built_otherwise(twice, why):
    """After the drop-in was made, and before: then it is said what is there and what was."""
    x, original = torch.randn(3, 4), Twice().eval()
    program = twice.optimized(original)
    with torch.no_grad():
        assert called(twice.Fast, program, original, x) == 1
        BUILT[why](original)
        with pytest.warns(UserWarning, match=why.strip()):
            assert called(twice.Fast, program, original, x) == 0
        with pytest.warns(UserWarning, match=r"no longer one tensor|is .*, and was "):
            program = twice.optimized(original)
        assert called(twice.Fast, program, original, x) == 0


def test_another_plain_attribute_is_another_module(twice):
    original = Twice(eps=1.0).eval()
    with pytest.warns(UserWarning, match="eps is 1.0, and was 1e-05"):
        program = twice.optimized(original)
    with torch.no_grad():
        assert called(twice.Fast, program, original, torch.randn(3, 4)) == 0


def test_what_was_compiled_is_the_same_module(twice):
    """torch.compile leaves a mark on the module that it is given."""
    x, original = torch.randn(3, 4), Twice().eval()
    torch.compile(original, backend="eager")
    original.parts[0].compile(backend="eager")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        program = twice.optimized(original)
        assert called(twice.Fast, program, original, x) == 1
        torch.compile(program, backend="eager")
        assert called(twice.Fast, program, original, x) == 1


def test_a_hook_for_every_module_is_seen(twice):
    x, original = torch.randn(3, 4), Twice().eval()
    program = twice.optimized(original)
    handle = nn.modules.module.register_module_forward_hook(
        lambda module, args, output: output + 1 if type(module) is nn.Linear else None)
    try:
        with torch.no_grad(), pytest.warns(UserWarning, match="a hook runs for every module"):
            assert called(twice.Fast, program, original, x) == 0
    finally:
        handle.remove()
    with torch.no_grad():
        assert called(twice.Fast, program, original, x) == 1


def test_what_cannot_be_made_again_is_not_run_over_old_weights(twice):
    x, original = torch.randn(3, 4), Twice().eval()
    made = list[int]()

    def make(original, weights):
        if made:
            raise FileNotFoundError("the folder is gone")
        made.append(1)
        return twice.Fast(weights)

    program = twice.drop_in(original, make, twice.FACTS)
    with torch.no_grad():
        assert called(twice.Fast, program, original, x) == 1
        original.parts[0].weight = original.parts[1].weight = other_weight()
        with pytest.warns(UserWarning, match="the folder is gone"):
            assert called(twice.Fast, program, original, x) == 0
        assert called(twice.Fast, program, original, x) == 0


@pytest.mark.parametrize("way", ["vmap", "jvp", "negative"])
def test_what_reads_memory_is_not_called_where_memory_is_not_the_tensor(found, way):
    """Kernels read memory: who maps or differentiates a call is shown the reference, as is a lazily negated tensor."""
    class Kernels(nn.Module):
        def __init__(self, weights):
            super().__init__()

        def forward(self, x):
            raise AssertionError("the kernels ran")

    def reference(original):
        return found.Fast({"linear.weight": original.linear.weight})

    x = inputs[0]
    program = found.drop_in(module, lambda original, weights: Kernels(weights), found.FACTS, None, reference)
    with torch.no_grad():
        if way == "vmap":
            torch.testing.assert_close(torch.vmap(program)(torch.stack([x, 2 * x])), module(torch.stack([x, 2 * x])))
        elif way == "jvp":
            torch.testing.assert_close(torch.func.jvp(program, (x,), (x,))[1], torch.func.jvp(module, (x,), (x,))[1])
        else:
            torch.testing.assert_close(program(torch._neg_view(x)), module(-x))


def test_it_has_the_originals_attributes(found):
    assert found.optimized(module).linear is module.linear


def test_nothing_of_the_originals_is_hidden_behind_it(found):
    original = copy.deepcopy(module)
    for name in ("facts", "way", "device", "held", "last", "take", "reference", "names"):
        setattr(original, name, name)
    facts = {**found.FACTS, "parts": found.parts_of(original)}
    for program in (found.drop_in(original, found.made, facts), by_compiler(original, DEFAULT, {})):
        assert all(getattr(program, name) == name for name in ("facts", "way", "device", "held", "last", "take"))


def test_a_plain_attribute_that_is_set_through_it_is_the_originals(found):
    """What was found has it as a number, and does not run any more."""
    original = copy.deepcopy(module)
    original.scale = 2.0
    program = found.drop_in(original, found.made, {**found.FACTS, "parts": found.parts_of(original)})
    with torch.no_grad():
        assert called(found, program, original, inputs[0]) == 1
        program.scale = 3.0
        assert original.scale == 3.0
        with pytest.warns(UserWarning, match="scale was set since it was made") as said:
            assert called(found, program, original, inputs[0]) == 0
    assert said[0].filename == __file__


def test_what_is_set_through_it_is_set_in_the_original(found):
    original = copy.deepcopy(module)
    original.fast = nn.Identity().eval()                   # a name that the drop-in has, too
    facts = {**found.FACTS, "parts": found.parts_of(original), "modes": [False] * 3}
    program = found.drop_in(original, found.made, facts)
    weight = nn.Parameter(torch.randn(48, 48))
    with torch.no_grad():
        program.linear.weight = weight
        assert called(found, program, original, inputs[0]) == 1
        program.linear = nn.Linear(48, 48)
        assert original.linear is program.linear and list(program._modules) == ["original"]
        with pytest.warns(UserWarning, match="a part of the module is another one now"):
            assert called(found, program, original, inputs[0]) == 0
        program.train()
        assert isinstance(original.fast, nn.Identity) and original.training


@pytest.mark.parametrize("what", ["torch", "instructions"])
def test_on_another_torch_or_machine_the_original_runs_with_a_sentence(found, what, monkeypatch):
    monkeypatch.setitem(found.FACTS, what, "something else")
    with pytest.warns(UserWarning, match=f"measured with {what} something else, and this is"):
        program = found.optimized(module)
    with torch.no_grad():
        assert called(found, program, module, inputs[0]) == 0


def test_where_what_was_found_cannot_be_made_the_original_runs(tmp_path):
    source = "class Fast:\n    def __init__(self, weights):\n        raise OSError('there is no C++ compiler (g++)')\n"
    candidate = Candidate("kernels", source, ("linear.weight",), complete=True)
    written = write_files(tmp_path / "found", files_of(candidate, facts_of(module, inputs, candidate, EAGER)))
    with pytest.warns(UserWarning, match=r"and not the program that was found: there is no C\+\+ compiler"):
        program = loaded(written).optimized(module)
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), module(*inputs))


def test_frozen_weights_that_change_are_seen(monkeypatch):
    """Freezing makes constants of them; the compiler is left out here."""
    monkeypatch.setattr(torch, "compile", lambda program, mode: lambda x: "frozen")
    original = Pooled().eval()
    program = by_compiler(original, FROZEN, dict(original.named_parameters()))
    with torch.no_grad():
        assert program(inputs[0]) == program(inputs[0]) == "frozen"
        original.linear.weight.add_(1)
        torch.testing.assert_close(program(inputs[0]), original(inputs[0]))
    program = by_compiler(original, FROZEN, dict(original.named_parameters()))
    with torch.no_grad():
        assert program(inputs[0]) == "frozen"
        original.linear.weight.grad = torch.randn(48, 48)
        torch.optim.SGD(original.parameters(), lr=0.5, fused=True).step()
        torch.testing.assert_close(program(inputs[0]), original(inputs[0]))


@pytest.fixture
def frozen(monkeypatch):
    """A frozen program that runs another one than the original, so that one sees which ran; nothing is compiled."""
    monkeypatch.setattr(torch, "compile", lambda program, mode: lambda x: "frozen")
    original = Pooled().eval()
    return by_compiler(original, FROZEN, dict(original.named_parameters()))


def test_what_is_frozen_leaves_calls_with_gradients_to_the_original(frozen):
    """The first one, too."""
    assert frozen(inputs[0]).grad_fn is not None
    with torch.no_grad():
        assert frozen(inputs[0]) == "frozen"
    assert frozen(inputs[0]).grad_fn is not None


def test_tensors_of_inference_mode_are_not_frozen(monkeypatch):
    """They do not say whether they were written to."""
    monkeypatch.setattr(torch, "compile", lambda program, mode: lambda x: "frozen")
    with torch.inference_mode():
        original = Pooled().eval()
        program = by_compiler(original, FROZEN, dict(original.named_parameters()))
        torch.testing.assert_close(program(inputs[0]), original(inputs[0]))


@pytest.mark.parametrize("way", [EAGER, DEFAULT])
def test_what_torch_made_of_a_module_is_in_its_place(way):
    """Its mode, attributes, and each weight once; it is copied and saved with the model around it."""
    program = by_compiler(module, way, {})
    assert not program.training and program.linear is module.linear
    assert list(program.state_dict()) == ["original.linear.weight"] and len(list(program.modules())) == 3
    copied = copy.deepcopy(Around(program)).block
    assert copied.linear is copied.original.linear is not module.linear
    written = io.BytesIO()
    torch.save(program, written)
    written.seek(0)
    read = torch.load(written, weights_only=False)
    assert read._instead.way == way and torch.equal(read.linear.weight, module.linear.weight)


def test_steps_are_counted_once_however_many_files_were_saved(tmp_path):
    from torch.optim import optimizer

    candidate = averaged_first()
    files = files_of(candidate, facts_of(module, inputs, candidate, EAGER))
    before = len(optimizer._global_optimizer_post_hooks)
    several = [loaded(write_files(tmp_path / name, files)) for name in ("one", "two")]
    assert len(optimizer._global_optimizer_post_hooks) == before
    assert several[0].STEPS is several[1].STEPS is STEPS
    steps, weight = STEPS[0], torch.ones(2, requires_grad=True)
    weight.grad = torch.ones(2)
    torch.optim.SGD([weight], lr=0.1).step()
    assert STEPS[0] == steps + 1


def test_calls_are_opened_and_put_together_as_in_the_example(tmp_path):
    class Nested(nn.Module):
        def forward(self, pair, scale=2.0, *, mask=None):
            return {"sum": pair[0] + scale * pair[1], "more": [pair[0], 3]}

    source = ("class Fast:\n    def __init__(self, weights): ...\n"
              "    def __call__(self, a, b): return a + 2.0 * b, a * 1\n")
    original, x, y = Nested(), torch.randn(3), torch.randn(3)
    candidate = Candidate("nested", source)
    facts = facts_of(original, ((x, y),), candidate, EAGER)
    program = loaded(write_files(tmp_path / "found", files_of(candidate, facts))).optimized(original)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for answer in (program((x, y)), program(pair=(x, y)), program((x, y), 2.0, mask=None)):
            assert list(answer) == ["sum", "more"] and answer["more"][1] == 3
            torch.testing.assert_close(answer["sum"], x + 2 * y)
    with torch.no_grad(), pytest.warns(UserWarning, match=r"called with .*3\.0.* and proved for"):
        torch.testing.assert_close(program((x, y), 3.0)["sum"], x + 3 * y)


def test_a_candidate_may_not_define_what_the_drop_in_has(tmp_path):
    candidate = averaged_first()
    source = candidate.source + "\n\ndef skeleton(x): return x\n"
    with pytest.raises(ValueError, match="skeleton"):
        files_of(Candidate("clash", source, candidate.weights), {})


KERNEL = """
import torch

class Fast:
    def __init__(self, weights):
        self.weight = weights["linear.weight"]

    def __call__(self, x):
        import numpy
        return (torch.from_numpy(numpy.asarray(x.detach()).mean(-2) @ numpy.asarray(self.weight.detach()).T),)
"""
IN_TORCH = AVERAGED_FIRST.replace("self, weights", "self, original").replace(
    'weights["linear.weight"]', "original.linear.weight").replace("return (x.mean(-2) @ self.weight.t(),)",
                                                                  "return x.mean(-2) @ self.weight.t()")


@pytest.fixture
def with_kernels(tmp_path):
    """The file of a candidate whose Fast cannot be looked into, and has a reference beside it."""
    reference = Candidate("in torch", IN_TORCH, ("linear.weight",), whole=True)
    candidate = Candidate("kernel", KERNEL, ("linear.weight",), complete=True, reference=reference)
    return loaded(write_files(tmp_path / "found", files_of(candidate, facts_of(module, inputs, candidate, EAGER))))


def test_whoever_records_kernels_is_shown_the_same_in_torchs_operators(with_kernels):
    program = with_kernels.optimized(module)
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), module(*inputs))
    operators = [node.operator for node in capture(Around(program), inputs).nodes]
    assert "aten.mean.dim" in operators and "aten.linear.default" not in operators
    assert check(Around(module), Around(program), inputs).verdict == "same"


def test_a_model_with_kernels_in_it_is_compiled(with_kernels):
    model = Around(with_kernels.optimized(module))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="the original runs")
        torch.testing.assert_close(torch.compile(model, backend="eager")(*inputs), Around(module)(*inputs))


def test_a_model_with_kernels_in_it_is_pickled(with_kernels):
    model = Around(with_kernels.optimized(copy.deepcopy(module)))
    written = io.BytesIO()
    torch.save(model, written)
    written.seek(0)
    read = torch.load(written, weights_only=False)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(read(*inputs), model(*inputs))
        read.block.original.linear.weight.mul_(2)
        torch.testing.assert_close(read(*inputs), Around(read.block.original)(*inputs))
        torch.testing.assert_close(model(*inputs), Around(module)(*inputs))


class Around(nn.Module):
    """A layer with the block in it."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x):
        return self.block(x * 2).relu()


@pytest.mark.parametrize("way", [EAGER, pytest.param(DEFAULT, marks=pytest.mark.long)])
def test_a_layer_with_the_drop_in_is_checked_with_what_was_found_in_it(tmp_path, way):
    """Whoever records sees the found program's operators, and not a call of something compiled."""
    candidate = averaged_first()
    written = write_files(tmp_path / "found", files_of(candidate, facts_of(module, inputs, candidate, way)))
    layer = Around(loaded(written).optimized(module))
    verdict = check(Around(module), layer, inputs)
    assert verdict.verdict == "same", verdict.notes
    assert [node.operator for node in capture(layer, inputs).nodes].count("aten.mean.dim") == 1
    graph = [node.operator for node in capture(layer, inputs).nodes if not node.is_source]
    assert graph.index("aten.mean.dim") < len(graph) - 3 and "aten.linear.default" not in graph


class EverySecond(nn.Module):
    def forward(self, x):
        return torch.relu(x)[:, ::2]


def test_a_result_with_gaps_is_of_the_sizes_of_the_example_alone() -> None:
    """What was proved for all sizes would be spread with the example's strides."""
    module, x = EverySecond(), torch.randn(3, 8)
    verdict = check(module, EverySecond(), (x,))
    assert verdict.evidence is Rung.PROVED
    facts = facts_of(module, (x,), Candidate("", ""), EAGER, verdict)
    assert facts["gaps"] and facts["bounds"] == {} and "sizes" not in facts["inputs"]["x"]
