"""Functions that refer to tensors as variables of their file: these are weights, and seen where they are set anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch
from torch import nn

from samesame import check, optimize
from samesame.capture import capture
from samesame.evidence import Refused, Rung
from samesame.optimize.algebra import algebraic, specified
from samesame.optimize.built import tied_in
from samesame.optimize.candidate import Candidate
from samesame.optimize.facts import facts_of, unguarded
from samesame.optimize.job import loaded
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.search import searched
from samesame.programs.spoken import variables_of_file

TEXT = '''import functools

import torch

torch.manual_seed(0)
DOWN, UP = torch.randn(4, 64), torch.randn(48, 4)
ALSO_UP = UP
forward = torch.randn(48)


def low_rank(x):
    return x @ (UP @ DOWN).T + forward


def twice(x):
    return low_rank(x) + x @ (ALSO_UP @ DOWN).T + UP.sum()


def around(x):
    return torch.tanh(low_rank(x)) + [factor * UP.mean() for factor in (1.0, 2.0)][1]


SCALE, TABLES = 2.0, [torch.linspace(0, 1, 20)]


def scaled(x):
    return x * SCALE + TABLES[0].sum()


def outer(x):
    return inner(low_rank(x))


def inner(x):
    return torch.tanh(scaled(x))


@functools.cache
def kept(n):
    return UP[:n] * 2


def of_kept(x):
    return low_rank(x) * kept(1).sum()


def made():
    inside = torch.randn(4, 64)
    def closed(x):
        return x @ (UP @ inside).T
    return closed


closed = made()
'''


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "low.py"
    path.write_text(TEXT)
    yield loaded(path)


def form_of(function: Callable[..., Any], x: torch.Tensor) -> Candidate:
    """The first form that torch's operators have of the function."""
    specification = specified(function, (x,), capture(function, (x,)))
    return next(algebraic(specification, searched(specification)))


def saved(function: Callable[..., Any], x: torch.Tensor, folder: Path) -> tuple[dict[str, Any], Any]:
    """The facts of the function's first form, and the file that was written of it."""
    candidate = form_of(function, x)
    facts = facts_of(function, (x,), candidate, "eager")
    return facts, loaded(write_files(folder / "found", files_of(candidate, facts)))


def test_a_form_reads_them_where_they_are(file: Any, tmp_path: Path) -> None:
    x = torch.randn(32, 64)
    facts, found = saved(file.low_rank, x, tmp_path)
    fast = found.optimized(file.low_rank)
    assert fast._instead.unfit == "" and set(facts["weights"]) == {"DOWN", "UP", "forward"}
    torch.testing.assert_close(fast(x), file.low_rank(x))

    before, file.UP = file.UP, torch.randn(48, 4)
    torch.testing.assert_close(fast(x), file.low_rank(x))
    assert not torch.allclose(fast(x), x @ (before @ file.DOWN).T + file.forward)
    file.forward.mul_(3.0)
    torch.testing.assert_close(fast(x), file.low_rank(x))
    with pytest.warns(UserWarning, match="is no longer there"):
        file.UP, kept = 2.0, file.UP
        with pytest.raises(TypeError):
            fast(x)
    file.UP = kept


def test_those_of_functions_that_it_calls_are_its_own(file: Any, tmp_path: Path) -> None:
    """They are read where they are, and seen where they are set anew, as its own are; so is what these functions do."""
    x = torch.randn(32, 64)
    facts, found = saved(file.around, x, tmp_path)
    fast = found.optimized(file.around)
    assert fast._instead.unfit == "" and set(facts["weights"]) == {"DOWN", "UP", "forward"}
    torch.testing.assert_close(fast(x), file.around(x))
    before, file.DOWN = file.DOWN, torch.randn(4, 64)
    torch.testing.assert_close(fast(x), file.around(x))
    assert not torch.allclose(fast(x), torch.tanh(x @ (file.UP @ before).T + file.forward) + 2 * file.UP.mean())
    file.low_rank = lambda x: x @ (file.UP @ file.DOWN).T
    with pytest.warns(UserWarning, match="the original runs"):
        torch.testing.assert_close(found.optimized(file.around)(x), file.around(x))


def test_numbers_that_functions_which_it_calls_refer_to_are_compared(file: Any, tmp_path: Path) -> None:
    """However many calls away: a number when a drop-in is made, what stands in a list in each call."""
    x = torch.randn(32, 64)
    _, found = saved(file.outer, x, tmp_path)
    fast = found.optimized(file.outer)
    assert fast._instead.unfit == ""
    torch.testing.assert_close(fast(x), file.outer(x))
    file.TABLES[0].mul_(2)
    with pytest.warns(UserWarning, match="the original runs"):
        assert torch.equal(fast(x), file.outer(x))
    file.TABLES[0].div_(2)
    file.SCALE = 3.0
    with pytest.warns(UserWarning, match="SCALE, which scaled refers to, is 3.0, and was 2.0"):
        assert torch.equal(found.optimized(file.outer)(x), file.outer(x))


def test_what_a_cache_has_read_is_none_of_them(file: Any) -> None:
    """The function reads its variables once: another tensor in their place makes no difference to it."""
    assert set(variables_of_file(file.of_kept)) >= {"kept", "low_rank", "DOWN", "UP"}
    assert "UP" not in variables_of_file(FunctionType((lambda x: kept(1)).__code__, vars(file)))           # noqa: F821


def test_it_is_proved_over_them(file: Any, tmp_path: Path) -> None:
    x = torch.randn(32, 64)
    candidate = form_of(file.low_rank, x)
    facts = facts_of(file.low_rank, (x,), candidate, "eager")
    weights = {name: getattr(file, name) for name in facts["weights"]}
    program = unguarded(file.low_rank, write_files(tmp_path / "found", files_of(candidate, facts)), weights, facts)
    verdict = check(file.low_rank, program, (x,))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE and not verdict.only


def test_names_of_one_tensor_stay_one(file: Any, tmp_path: Path) -> None:
    x = torch.randn(32, 64)
    assert [sorted(names) for names in tied_in(file.twice)] == [["ALSO_UP", "UP"]]
    candidate = form_of(file.twice, x)
    facts = facts_of(file.twice, (x,), candidate, "eager")
    fast = loaded(write_files(tmp_path / "found", files_of(candidate, facts))).optimized(file.twice)
    torch.testing.assert_close(fast(x), file.twice(x), rtol=1e-4, atol=1e-4)
    file.ALSO_UP = torch.randn(48, 4)
    with pytest.warns(UserWarning, match="the original runs"):
        assert torch.equal(fast(x), file.twice(x))


def test_what_a_function_closes_over_is_nobodys(file: Any) -> None:
    x = torch.randn(32, 64)
    with pytest.raises(Refused, match="the tensor inside belongs to no module"):
        specified(file.closed, (x,), capture(file.closed, (x,)))


def test_another_file_without_them_is_told(file: Any, tmp_path: Path) -> None:
    x = torch.randn(32, 64)
    _, found = saved(file.low_rank, x, tmp_path)
    with pytest.raises(KeyError, match="has no tensor"):
        found.optimized(FunctionType(file.low_rank.__code__, {"torch": torch}))
    with pytest.warns(UserWarning, match="the code of the program is another one"):
        found.optimized(lambda x: x)


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.listed = [nn.Parameter(torch.ones(8))]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.listed[0]


def test_a_parameter_in_a_list_is_refused_with_what_to_do() -> None:
    with pytest.raises(Refused, match=r"Listed reads a parameter that is in no module by name .* nn.ParameterList"):
        optimize(Listed(), (torch.randn(4, 8),), minutes=0.1, threads=1)


def test_a_decorated_helper_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its decorator is of another file, and so is the function that is called."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ways_of_telling.py").write_text(
        "import functools\ndef told(f):\n    @functools.wraps(f)\n    def g(x):\n        return f(x)\n    return g\n")
    (tmp_path / "decorated_helper.py").write_text(
        "from ways_of_telling import told\nTABLE = 2.0\n@told\ndef helper(x):\n    return x * TABLE\n"
        "def f(x):\n    return helper(x)\n")
    assert "TABLE" in variables_of_file(import_module("decorated_helper").f)
