"""What was found once is not searched and timed again: for the same program, machine and versions, and no other."""

from __future__ import annotations

import sqlite3
import warnings
from functools import partial
from itertools import combinations

import pytest
import torch
from pooled import Pooled, averaged_first
from torch import nn

from samesame import optimize
from samesame.optimize import verb
from samesame.optimize.dropin import EAGER
from samesame.optimize.facts import facts_of
from samesame.optimize.kept import in_memory
from samesame.optimize.saved import files_of
from samesame.report.optimized import FASTER, NOTHING, Contract, Formula, Row, Step
from samesame.store import Store
from samesame.versions import versions

ROWS = [Row("eager torch", EAGER, False, 2e-6, 0.1, 16, best=True),
        Row("found", EAGER, True, 1e-6, 0.1, 16, winner=True)]


@pytest.fixture
def store(tmp_path):
    prover, semantics = versions()
    with Store.open(tmp_path / "rules.sqlite", prover=prover, semantics=semantics) as opened:
        yield opened


@pytest.fixture
def decided(monkeypatch):
    """How often programs raced; the race is left out, as is the search for what would race, and the mean goes first."""
    count = []

    def decide(attempt, found):
        count.append(found)
        attempt.report.verdict, attempt.report.rows, attempt.report.contract = FASTER, ROWS, Contract(draws=3)
        candidate = averaged_first()
        files = files_of(candidate, facts_of(attempt.module, attempt.example, candidate, EAGER))
        return verb.Optimized(attempt.module_of(files), attempt.report, files, {"seal": "it"})

    monkeypatch.setattr(verb.Attempt, "searched", lambda attempt: ())
    monkeypatch.setattr(verb.Attempt, "decide", decide)
    return count


def optimized(store, width=8, rows=5, **options):
    torch.manual_seed(0)
    module = Pooled(width).eval()
    return module, optimize(module, (torch.randn(rows, width),), store=store, **{"minutes": 1, "threads": 1, **options})


def test_the_second_run_is_instant_and_gives_the_same(store, decided):
    _, first = optimized(store)
    module, second = optimized(store)
    assert len(decided) == 1 and type(second.module._instead).__name__ == "Found"
    assert second.report.rows == ROWS and second.report.contract == first.report.contract
    assert second.files == first.files and second.certificate == {"seal": "it"}
    assert second.report.measured and not first.report.measured
    with torch.no_grad():
        x = torch.randn(5, 8)
        torch.testing.assert_close(second.module(x), module(x))


def test_another_program_or_setting_is_searched_for(store, decided):
    optimized(store)
    for count, other in enumerate([{"width": 9}, {"rows": 6}, {"threads": 2}, {"minutes": 2}], start=2):
        optimized(store, **other)
        assert len(decided) == count, other


class Told(Pooled):
    """The same graph, whatever it returns beside its tensor, takes beside it, or holds that does not run."""

    def __init__(self, returns=3, kind=tuple, part=nn.Identity):
        super().__init__(8)
        self.returns, self.kind, self.part = returns, kind, part()

    def forward(self, x, y=None, flag=True):
        return self.kind((super().forward(x), self.returns))


def test_an_equal_graph_is_not_an_equal_program(store, decided):
    x = torch.randn(5, 8)
    (first, *others) = [(Told(), (x,)), (Told(4), (x,)), (Told(3.0), (x,)), (Told(kind=list), (x,)),
                        (Told(part=partial(nn.Sequential, nn.Dropout())), (x,)), (Told(), (x, None, False)),
                        (Tied(), (x,))]
    for count, (module, example) in enumerate([first, *others], start=1):
        found = optimize(module.eval(), example, store=store, minutes=1, threads=1)
        assert len(decided) == count
        with torch.no_grad():
            assert repr(found.module(*example)[1:]) == repr(module(*example)[1:])
    optimize(Told().eval(), (x,), store=store, minutes=1, threads=1)
    assert len(decided) == count


class Tied(Told):
    def __init__(self):
        super().__init__(part=lambda: nn.Linear(8, 8, bias=False))
        self.part.weight = self.linear.weight


def test_weights_that_lie_in_one_memory_are_another_program():
    apart = {name: torch.ones(4) for name in "ab"}
    whole = torch.ones(8)
    found = [in_memory(apart), in_memory({"a": whole[:4], "b": whole[4:]}), in_memory({"a": whole, "b": whole})]
    assert all(a != b for a, b in combinations(found, 2))
    assert found[0] == in_memory({name: torch.zeros(4) for name in "ab"})


def test_another_torch_is_measured_again(store, decided, monkeypatch):
    optimized(store)
    monkeypatch.setattr(torch, "__version__", "another")
    optimized(store)
    assert len(decided) == 2


def test_what_is_damaged_is_not_believed(store, decided):
    optimized(store)
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE fastest SET form = replace(form, 'mean', 'sum')")
    optimized(store)
    assert len(decided) == 2


def test_it_is_forgotten_with_the_rules(store, decided):
    optimized(store)
    store.clear()
    optimized(store)
    assert len(decided) == 2


def test_formulas_and_steps_come_back(store, decided, monkeypatch):
    step, formula = Step("take-out", "a", "b", ("<math/>", "")), Formula("0", "<math/>")
    decide = verb.Attempt.decide

    def taken(attempt, found):
        attempt.report.steps, attempt.report.formulas = (step,), (formula,)
        return decide(attempt, found)

    monkeypatch.setattr(verb.Attempt, "decide", taken)
    optimized(store)
    _, second = optimized(store)
    assert second.report.measured and second.report.formulas == (formula,)
    assert [(s.rule, list(s.drawn)) for s in second.report.steps] == [("take-out", ["<math/>", ""])]


def test_that_nothing_was_found_is_kept_too(store, monkeypatch):
    def decide(attempt, found):
        attempt.report.verdict, attempt.report.way, attempt.report.rows = NOTHING, EAGER, ROWS[:1]
        return verb.Optimized(attempt.own(EAGER), attempt.report)

    monkeypatch.setattr(verb.Attempt, "searched", lambda attempt: ())
    monkeypatch.setattr(verb.Attempt, "decide", decide)
    optimized(store)
    module, second = optimized(store)
    assert second.module is module and second.report.measured


class Counted(Pooled):
    """It has a buffer that nothing reads, as far as one sees."""

    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("count", torch.tensor(1.0))

    def forward(self, x):
        return self.linear(x).mean(-2) + 0 * len(str(self.count.item()))


def test_what_has_other_numbers_in_it_is_searched_anew(store, decided):
    module, inputs = Counted(8).eval(), (torch.randn(5, 8),)
    for count in (1.0, 1.0, 3.0):
        module.count.fill_(count)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not optimize(module, inputs, store=store, minutes=1, threads=1).module._instead.unfit
    assert len(decided) == 2
