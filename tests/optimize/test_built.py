"""What was found has numbers in it that stood elsewhere in the program: where these are others the original runs."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
import types
import warnings
from collections.abc import Callable
from enum import Enum
from functools import lru_cache, partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samesame.optimize import built
from samesame.optimize.built import code_of, loose, parts_of
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import EAGER
from samesame.optimize.facts import facts_of
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files

SCALE = 2.0
TABLES = [torch.tensor([2.0])]


class Base(nn.Module):
    power = 2

    @property
    def half(self) -> float:
        return self._half

    @half.setter
    def half(self, value: float) -> None:
        self._half = value


def doubled(method: Any) -> Any:
    @wraps(method)
    def twice(*args: Any) -> Any:
        return 2 * method(*args)

    return twice


class Scaled(Base):
    factor = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(4, 4))
        self.register_buffer("gain", torch.tensor(2.0))
        self.norm = nn.BatchNorm1d(4)
        self.scales = [torch.tensor([2.0]), {"deep": torch.tensor([2.0])}]
        self.act = partial(F.leaky_relu, negative_slope=0.5)
        self.half = 0.5

    @doubled
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        most = self.gain.item() * self.scales[0] * self.scales[1]["deep"]
        return self.act(x @ self.w) * most * self.factor * SCALE * self.half * self.power


SOURCE = """
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weight = weights["w"]

    def forward(self, x):
        Fast.runs += 1
        return (nn.functional.leaky_relu(x @ self.weight, 0.5) * 64,)


Fast.runs = 0
"""
x = (torch.randn(3, 4),)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    candidate = Candidate("it", SOURCE, ("w",))
    facts = facts_of(Scaled().eval(), x, candidate, EAGER)
    return loaded(write_files(tmp_path_factory.mktemp("built") / "found", files_of(candidate, facts)))


def ran(found: Any, program: Any, original: Any, x: torch.Tensor = x[0]) -> bool:
    """Whether the found program ran, in a call that gives what the original does."""
    before = found.Fast.runs
    with torch.no_grad():
        torch.testing.assert_close(program(x), original(x))
    return found.Fast.runs > before


def test_a_program_that_is_built_as_it_was_runs_what_was_found(found: Any) -> None:
    original = Scaled().eval()
    with torch.no_grad():
        original.w.mul_(3)                                 # a weight is no number
        original.norm.num_batches_tracked += 1             # torch's own read no buffer as one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ran(found, found.optimized(original), original)


def other_code(original: nn.Module) -> None:
    class Other(Scaled):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) * 3

    Other.__qualname__ = "Scaled"
    original.__class__ = Other


def of_class(name: str, value: Any) -> Callable[[nn.Module], None]:
    """A class that has another value, or methods around other ones."""
    def change(original: nn.Module) -> None:
        original.__class__ = type("Scaled", (Scaled,), {name: value, "__qualname__": "Scaled"})

    return change


BEFORE: dict[str, tuple[Callable[[nn.Module], Any], str]] = {
    "a buffer": (lambda m: m.gain.fill_(3.0), "gain is a tensor"),
    "a tensor in a list": (lambda m: m.scales[0].mul_(2), "scales is list"),
    "a tensor in a dict": (lambda m: m.scales[1]["deep"].mul_(2), "scales is list"),
    "a partial call": (lambda m: setattr(m, "act", partial(F.leaky_relu, negative_slope=0.25)), "act is partial"),
    "a patched function": (lambda m: setattr(m, "act", lambda x: x * 3), "act is "),
    "a number of its class": (of_class("factor", 3.0), "factor of its class is 3.0, and was 2.0"),
    "a number of a class above": (of_class("power", 3), "power of its class is 3, and was 2"),
    "code": (other_code, "the code of the program is another one"),
}


@pytest.mark.parametrize("what", BEFORE)
def test_one_that_is_built_otherwise_does_not(found: Any, what: str) -> None:
    change, why = BEFORE[what]
    original = Scaled().eval()
    change(original)
    with pytest.warns(UserWarning, match=why):
        assert not ran(found, found.optimized(original), original)


def test_nor_does_one_whose_file_has_another_number(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    original = Scaled().eval()
    with pytest.warns(UserWarning, match="SCALE, which Scaled.forward refers to, is 3.0, and was 2.0"):
        assert not ran(found, found.optimized(original), original)


AFTER: dict[str, Callable[[Any, nn.Module], Any]] = {
    "another buffer": lambda program, original: setattr(original, "gain", torch.tensor(3.0)),
    "another buffer, set through it": lambda program, original: setattr(program, "gain", torch.tensor(3.0)),
    "other weights, assigned": lambda program, original: original.load_state_dict(
        {**original.state_dict(), "gain": torch.tensor(3.0)}, assign=True),
    "a buffer": lambda program, original: original.gain.fill_(3.0),
    "a tensor in a list": lambda program, original: original.scales[0].mul_(2),
    "a tensor in a dict": lambda program, original: original.scales[1]["deep"].mul_(2),
    "a number of its class": lambda program, original: setattr(program, "factor", 3.0),
    "a property of its class": lambda program, original: setattr(program, "half", 0.25),
}


@pytest.mark.parametrize("what", AFTER)
def test_what_changes_afterwards_is_seen(found: Any, what: str) -> None:
    original = Scaled().eval()
    program = found.optimized(original)
    assert ran(found, program, original)
    AFTER[what](program, original)
    with pytest.warns(UserWarning, match="holds others now|was set since it was made"):
        assert not ran(found, program, original)
    if what in ("a buffer", "a tensor in a list"):         # back as it was
        original.gain.fill_(2.0)
        original.scales[0].fill_(2.0)
        assert ran(found, program, original)


def test_a_copy_looks_at_its_own(found: Any) -> None:
    program = found.optimized(Scaled().eval())
    other = copy.deepcopy(program)
    assert ran(found, other, other.original)
    other.original.gain.fill_(3.0)
    with pytest.warns(UserWarning, match="holds others now"):
        assert not ran(found, other, other.original)
    assert ran(found, program, program.original)


def test_another_default_dtype_goes_to_the_original(found: Any) -> None:
    original = Scaled().eval()
    program = found.optimized(original)
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.warns(UserWarning, match="torch's default dtype is torch.float64, and was torch.float32"):
            assert not ran(found, program, original)
    finally:
        torch.set_default_dtype(torch.float32)
    assert ran(found, program, original)


def test_a_tensor_without_strides_goes_to_the_original(found: Any) -> None:
    class Product(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(4, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.mm(x, self.w)

    runs, original = list[torch.Tensor](), Product().eval()

    def multiplied(x: torch.Tensor) -> torch.Tensor:
        runs.append(x)
        return x @ original.w

    facts = facts_of(original, x, Candidate("it", SOURCE, ("w",)), EAGER)
    program = found.drop_in(original, lambda *_: multiplied, facts)
    with torch.no_grad():
        torch.testing.assert_close(program(x[0]), original(x[0]))
        with pytest.warns(UserWarning, match=r"lies in memory as torch.sparse_coo, which has no strides"):
            torch.testing.assert_close(program(x[0].to_sparse()), original(x[0]))
    assert len(runs) == 1


def test_of_a_weight_whose_memory_holds_other_numbers_kernels_are_not_run(found: Any) -> None:
    """Kernels read memory as it is; the same program in torch's operators reads what the tensor says."""
    original = Scaled().eval()
    program = found.drop_in(original, found.made, found.FACTS,
                            reference=lambda module: lambda x: (F.leaky_relu(x @ module.w, 0.5) * 64,))
    assert ran(found, program, original)
    original._parameters["w"] = torch._neg_view(torch.full((4, 4), 3.0))  # type: ignore[assignment]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):                                 # taken, and then as before
            torch.testing.assert_close(program(x[0]), original(x[0]))
            program._instead.fast = lambda x: pytest.fail("memory was read")


# ------------------------------------------------------------------------------------------------------------ functions

def times(y: torch.Tensor, x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x * SCALE * TABLES[0] * by


def closed_over(by: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * by

    return scaled


def test_functions_are_told_from_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    first = parts_of(times)
    assert parts_of(times) == first != parts_of(closed_over)
    assert parts_of(closed_over(2.0)) != parts_of(closed_over(3.0)) != parts_of(closed_over(2.0))
    assert parts_of(closed_over(2.0)) == parts_of(closed_over(2.0))
    assert parts_of(partial(times, torch.ones(1))) != parts_of(partial(times, torch.zeros(1)))
    assert parts_of(partial(times, by=2.0)) != parts_of(partial(times, by=3.0))
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert parts_of(times) != first
    monkeypatch.undo()
    assert parts_of(times) == first
    TABLES[0].add_(1)
    assert parts_of(times) != first
    TABLES[0].sub_(1)
    monkeypatch.setattr(times, "__defaults__", (2.0,))
    assert parts_of(times) != first


class Called:
    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by


class AttributeDict(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


class Number(Enum):
    ONE = 1.0


def module_with(**things: Any) -> nn.Module:
    """A module that has these attributes, or the first as its forward."""
    module = nn.Identity.__new__(type("Made", (nn.Module,), {"forward": lambda self, x: x, "__module__": __name__}))
    nn.Module.__init__(module)
    vars(module).update(things)
    return module


def method_with(by: float) -> nn.Module:
    def scaled(self: Any, x: torch.Tensor, by: float = by) -> torch.Tensor:
        return x * by

    cls = type("Made", (nn.Module,), {"scaled": scaled, "forward": lambda self, x: self.scaled(x)})
    return cls()


def in_a_comprehension(xs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [y * SCALE for y in xs]


@torch.no_grad()
def decorated(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE


@lru_cache
def remembered(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE


def with_function(by: float) -> Any:
    return module_with(act=lambda x, by=by: x * by)


APART: dict[str, Callable[[float], Any]] = {
    "an object that is called": Called,
    "a method of an object": lambda by: Called(by).method,
    "a default of a method": method_with,
    "a default of a function that it has": with_function,
    "what a function that it has closes over": lambda by: module_with(act=closed_over(by)),
    "numbers of numpy": lambda by: module_with(k=np.float32(by), n=np.array([by])),
    "an array in a list": lambda by: module_with(k=[np.array([by])]),
    "a complex number": lambda by: module_with(k=complex(0, by)),
    "a shape": lambda by: module_with(k=torch.Size([int(by)])),
    "a dict with attributes": lambda by: module_with(k=AttributeDict(by=by)),
    "a function of lists, what it closes over": lambda by: closed_over([by]),  # type: ignore[arg-type]
    "a partial call of one": lambda by: partial(closed_over(by)),
}


@pytest.mark.parametrize("what", APART)
def test_programs_with_other_numbers_are_told_apart(what: str) -> None:
    make = APART[what]
    assert parts_of(make(2.0)) == parts_of(make(2.0)) != parts_of(make(3.0))


@pytest.mark.parametrize("program", [in_a_comprehension, decorated, remembered])
def test_a_variable_is_seen_wherever_it_is_read(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = parts_of(program)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert parts_of(program) != before


def test_an_enumeration_with_another_value_is_another() -> None:
    before = parts_of(module_with(k=Number.ONE))
    Number.ONE._value_ = 2.0
    try:
        assert parts_of(module_with(k=Number.ONE)) != before
    finally:
        Number.ONE._value_ = 1.0


def test_tensors_of_what_is_called_are_watched() -> None:
    tensor = torch.ones(1)
    for program in (Called(tensor), Called(tensor).method, partial(F.relu, tensor)):  # type: ignore[arg-type]
        assert [found for *_, found in loose(program, [])] == [tensor]


def test_what_cannot_be_looked_into_raises_nothing() -> None:
    quantized = torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8)
    strange = [quantized, torch.ones(2, device="meta"), torch.ones(2).to_sparse(), types.SimpleNamespace(), {1}]
    module = module_with(things=strange, table=AttributeDict(), empty=np.array([]))
    assert parts_of(module) == parts_of(module) and len(loose(module, [])) == 0
    assert parts_of(torch.relu) == {"": {}} and loose(torch.relu, []) == []


def test_a_table_that_grows_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "REGISTRY", {"one": nn.Linear})

    def looked_up(x: torch.Tensor) -> Any:
        return REGISTRY["one"], x  # type: ignore[name-defined]  # noqa: F821

    before = parts_of(looked_up)
    globals()["REGISTRY"]["two"] = nn.Linear
    assert parts_of(looked_up) == before


class Act(Enum):
    GELU = partial(F.gelu)


def test_what_holds_itself_or_says_where_it_lies_is_told() -> None:
    original, itself = Scaled().eval(), list[Any]()
    itself.append(itself)
    original.itself, original.kind = itself, Act.GELU  # type: ignore[assignment]
    told = parts_of(original)[""]
    assert told["kind"].startswith("Act.GELU (partial(") and told["itself"].startswith("list(list(")
    assert len(list(loose(original, ["w"]))) == 3


def test_code_is_told_alike_by_every_process() -> None:
    """Sets among constants are in an order of their own in each."""
    text = f"""
        import sys
        sys.path.insert(0, {str(Path(built.__file__).parents[2])!r})
        from samesame.optimize.built import code_of, digest_of
        def f(x):
            return [y for y in x if y in {{"one", "two", "three", "four"}} or y in (1, "five")]
        print(digest_of(code_of(f.__code__)))
    """
    said = {subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=True,
                           env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(said) == 1
    assert code_of(times.__code__) != code_of(closed_over.__code__)
