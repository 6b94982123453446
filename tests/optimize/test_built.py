"""What was found has numbers in it that stood elsewhere in the program: where these are others the original runs."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samesame.optimize import built
from samesame.optimize.built import code_of, parts_of
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
    with pytest.warns(UserWarning, match="SCALE, a variable that Scaled.forward refers to, is 3.0, and was 2.0"):
        assert not ran(found, found.optimized(original), original)


AFTER: dict[str, Callable[[Any, nn.Module], Any]] = {
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
    with pytest.warns(UserWarning, match="was written to|was set since it was made"):
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
    with pytest.warns(UserWarning, match="was written to"):
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

    candidate = Candidate("it", SOURCE.replace("leaky_relu(x @ self.weight, 0.5) * 64", "relu(x)"), ("w",))
    original = Product().eval()
    program = found.drop_in(original, lambda _, weights: found.Fast(weights), facts_of(original, x, candidate, EAGER))
    with pytest.warns(UserWarning, match=r"lies in memory as torch.sparse_coo, which has no strides"):
        assert not ran(found, program, original, x[0].to_sparse())


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
