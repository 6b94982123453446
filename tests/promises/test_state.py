"""What a call does besides returning is compared: state, a second call, shared memory, dtypes, shapes, structure.

Pairs that return the same numbers. The first half is the same in all that a caller sees; in the second half he sees a
difference, and the headline says which.
"""

import functools
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Refused, Rung
from samesame.report import headline, plain_text

TWO = "for the first two calls"


def rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


X = (rows(4, 3),)


class Program(nn.Module):
    """A module of one function: `Program(forward, calls=0)` has `self.calls` at first."""

    def __init__(self, run, **attributes):
        super().__init__()
        for name, value in attributes.items():
            if type(value) is torch.Tensor:
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        self.run = run

    def forward(self, *inputs):
        return self.run(self, *inputs)


def plain(x):
    return x * 2 + 1


def module(line=plain):
    return Program(lambda self, x: line(x))


# -------------------------------------------------------------------------------------------------- programs with state


def counts(after, then, name="calls"):
    """2·x + 1, and `then` from call number `after` on."""

    def run(self, x):
        setattr(self, name, getattr(self, name) + 1)
        return plain(x) if getattr(self, name) < after else then(x)

    return Program(run, **{name: 0})


def counts_in_a_buffer(step=1, read=False):
    def run(self, x):
        self.seen += step
        return plain(x) + (self.seen if read else 0)

    return Program(run, seen=torch.zeros(()))


def remembers_first(self, x):
    if self.mean is None:
        self.mean = x.mean(0)
    return x - self.mean


def remembers_count(self, x):
    if self.count is None:
        self.count = (x > 0).sum()
    return x + self.count


def remembers_none(self, x):
    self.mean = x.mean(0)
    return x - self.mean


def grows(self, x):
    self.history.append(x.sum(0))
    return x + torch.stack(self.history).sum(0)


def grows_unread(self, x):
    self.history.append(x.sum(0))
    return plain(x)


def sums(self, x):
    self.total = self.total + x.sum(0)
    return x + self.total


def sums_in_place(self, x):
    self.total.add_(x.sum(0))
    return x + self.total


def keeps_last(self, x):
    self.last_hidden = x * 2
    return self.last_hidden + 1


def keeps_other(self, x):
    self.last_hidden = x * 3
    return x * 2 + 1


def closure_counts(limit):
    calls = 0

    def run(x):
        nonlocal calls
        calls += 1
        return plain(x) if calls <= limit else x

    return run


CALLS = 0
DOUBLED: list[torch.Tensor] = []


def global_counts(x):
    global CALLS
    CALLS += 1
    return plain(x) if CALLS < 2 else plain(x) + 1


def global_list(x):
    DOUBLED.append(x)
    return plain(DOUBLED[0])


def default_grows(x, seen=[]):  # noqa: B006
    seen.append(1)
    return plain(x) * len(seen)


class Counter:
    calls = 0


def class_counts(x):
    Counter.calls += 1
    return plain(x) if Counter.calls < 2 else x


def cached_table():
    @functools.lru_cache
    def table(n):
        return torch.arange(n, dtype=torch.float32)

    return lambda x: x + table(x.shape[1])


def cached_table_written():
    @functools.lru_cache
    def table(n):
        return torch.arange(n, dtype=torch.float32)

    return lambda x: x + table(x.shape[1]).add_(1) - 1


def write_cache(self, pos, k):
    self.cache[:, pos] = k
    return self.cache.sum(1)


def write_cache_by_cat(self, pos, k):
    self.cache = torch.cat([self.cache[:, :pos], k[:, None], self.cache[:, pos + 1 :]], 1)
    return self.cache.sum(1)


def reads_without_writing(self, pos, k):
    return torch.cat([self.cache[:, :pos], k[:, None], self.cache[:, pos + 1 :]], 1).sum(1)


def cached(run, pos=1):
    return Program(lambda self, k: run(self, pos, k), cache=torch.zeros(4, 5, 3))


class OwnNorm(nn.Module):
    """BatchNorm1d in training, written out."""

    def __init__(self, *, correction=1, momentum=0.1, moves=True):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))
        self.register_buffer("running_mean", torch.zeros(3))
        self.register_buffer("running_var", torch.ones(3))
        self.correction, self.momentum, self.moves = correction, momentum, moves

    def forward(self, x):
        mean, var = x.mean(0), x.var(0, correction=0)
        if self.moves:
            with torch.no_grad():
                self.running_mean.mul_(1 - self.momentum).add_(mean, alpha=self.momentum)
                self.running_var.mul_(1 - self.momentum).add_(x.var(0, correction=self.correction), alpha=self.momentum)
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias


def spectral(step=True):
    def run(self, x):
        v = F.normalize(self.weight.T @ self.u, dim=0)
        u = F.normalize(self.weight @ v, dim=0)
        if step:
            self.u.copy_(u)
        return x @ (self.weight / (u @ self.weight @ v)).T

    return Program(run, weight=rows(5, 3), u=F.normalize(rows(5, seed=1), dim=0))


def hooked(limit):
    layer, calls = nn.Linear(3, 3), []
    layer.weight.data, layer.bias.data = rows(3, 3), rows(3)

    def hook(module, inputs, output):
        calls.append(1)
        return output if len(calls) < limit else 2 * output

    layer.register_forward_hook(hook)
    return layer


def through_undefined(self, x):
    """What the first call left is read by the second, in memory that was undefined before."""
    total = x.sum(0) if self.used == 0 else self.box[0].clone()
    self.box[0], self.used = x.sum(0), 1
    return x + total


def scratch(self, x):
    self.box.zero_()
    self.box.add_(x.sum(0))
    return x + self.box


# ------------------------------------------------------------------------------------------------------------ structure


@dataclass
class Fields:
    a: Any
    b: Any = None


class Named(NamedTuple):
    a: Any
    b: Any


class Opaque:
    pass


def adds(x):
    return x.add_(1)


def adds_apart(x):
    return x + 1


def of_lists(xs, how):
    how(xs)
    return xs[0] + xs[1]


SAME = {
    "both add in place": (adds, lambda x: x.add_(2).sub_(1), X, ""),
    "both return the input": (lambda x: x, lambda y: y.view(4, 3), X, ""),
    "both return the same view": (lambda x: x[1:], lambda x: x.narrow(0, 1, 3), X, ""),
    "both return pieces of one tensor": (lambda x: (x * 2).chunk(3, 1), lambda x: tuple((x + x).split(1, 1)), X, ""),
    "pieces that share no element": (
        lambda x: (x * 2).chunk(3, 1), lambda x: tuple(x[:, k : k + 1] * 2 for k in range(3)), X, ""),
    "evaluated batch norm": (nn.BatchNorm1d(3).eval(), nn.SyncBatchNorm(3).eval(), X, ""),
    "batch norm in training": (nn.BatchNorm1d(3), OwnNorm(), X, TWO),
    "batch norm in training, twice": (nn.BatchNorm2d(2), nn.BatchNorm2d(2), (rows(3, 2, 4, 4),), TWO),
    "spectral norm": (spectral(), spectral(), X, TWO),
    "caches written in place": (cached(write_cache), cached(write_cache), X, TWO),
    "a cache written in place and one put together": (cached(write_cache), cached(write_cache_by_cat), X, TWO),
    "counters of one kind": (counts(9, plain), counts(9, plain), X, TWO),
    "a counter that nobody reads": (counts_in_a_buffer(), module(), X, ""),
    "a counter and none": (counts(9, plain), module(), X, TWO),
    "sums in place and by a new tensor": (
        Program(sums, total=torch.zeros(3)), Program(sums_in_place, total=torch.zeros(3)), X, TWO),
    "an attribute that holds a result": (Program(keeps_last, last_hidden=None), module(), X, ""),
    "attributes that hold the same result": (
        Program(keeps_last, last_hidden=None), Program(lambda self, x: keeps_last(self, x), last_hidden=None), X, ""),
    "a list that grows unread": (Program(grows_unread, history=[]), module(), X, TWO),
    "lists that grow": (Program(grows, history=[]), Program(grows, history=[]), X, TWO),
    "a table that is kept": (cached_table(), lambda x: x + torch.arange(3), X, ""),
    "what is computed anew": (Program(remembers_none, mean=None), lambda x: x - x.mean(0), X, ""),
    "the same first mean": (Program(remembers_first, mean=None), Program(remembers_first, mean=None), X, TWO),
    "scratch memory": (Program(scratch, box=torch.zeros(3)), lambda x: x + x.sum(0), X, ""),
    "a dict in another order": (
        lambda x: {"a": x * 2, "b": x + 1}, lambda x: OrderedDict(b=x + 1, a=x + x), X, ""),
    "a dict and an object": (lambda x: {"a": x * 2}, lambda x: Fields(x + x), X, ""),
    "a named tuple": (lambda x: Named(x * 2, x + 1), lambda x: (x + x, 1 + x), X, ""),
    "plain values": (lambda x: (x * 2, 3, "mean", None, True), lambda x: (x + x, 3, "mean", None, True), X, ""),
    "a list that both fill": (
        lambda xs: of_lists(xs, lambda xs: xs.append(xs[0] * 2)),
        lambda xs: of_lists(xs, lambda xs: xs.append(xs[0] + xs[0])), ([rows(3), rows(3, seed=1)],), ""),
    "keys that are no names": (
        lambda x: {"a.b": x * 2, "a": {"b": x * 3}}, lambda x: {"a": {"b": x * 3}, "a.b": x + x}, X, ""),
}

DIFFERENT = {
    "adds in place": (adds, adds_apart, X, "x after the call"),
    "a part written in place": (
        lambda x: x[0].zero_() + 1, lambda x: torch.zeros_like(x[0]) + 1, X, "x after the call"),
    "the input itself": (lambda x: x, lambda x: x.clone(), X, "output 0 is the input x itself on the left"),
    "a view of the input": (lambda x: x[1:], lambda x: x[1:] * 1, X, "output 0 shares memory with the input x"),
    "two outputs in one": (lambda x: (y := x * 2, y), lambda x: (x * 2, x * 2), X, "output 1 is 0 itself"),
    "an expanded result": (
        lambda x: x.sum(0).expand(4, 3), lambda x: x.sum(0).repeat(4, 1), X, "output 0 is expanded"),
    "the buffer itself": (
        Program(lambda self, x: (x * 2, self.table), table=rows(3)),
        Program(lambda self, x: (x * 2, self.table * 1), table=rows(3)), X, "the program's state"),
    "another dtype": (plain, lambda x: plain(x.double()), X, "output 0 is float32 on the left and float64"),
    "one more dimension": (
        lambda x: x.sum(1, keepdim=True), lambda x: x.sum(1), X, r"output 0 is float32[4, 1] on the left"),
    "a number in a tensor": (lambda x: x.sum(), lambda x: x.sum()[None], X, "output 0 is float32[] on the left"),
    "tuple and list": (lambda x: (x * 2, x + 1), lambda x: [x * 2, x + 1], X, "a tuple of 2 on the left and a list"),
    "a tensor and a tuple": (plain, lambda x: (plain(x),), X, "a tensor on the left and a tuple of 1"),
    "a tensor and a dict": (plain, lambda x: {"y": plain(x)}, X, "a tensor on the left and a dict of y"),
    "other nesting": (
        lambda x: (x * 2, (x + 1, x)), lambda x: ((x * 2, x + 1), x), X, "output 0 is a tensor on the left"),
    "another key": (lambda x: {"a": x * 2}, lambda x: {"b": x * 2}, X, "output a is a tensor on the left and missing"),
    "keys that look alike": (
        lambda x: {"a.b": x * 2}, lambda x: {"a": {"b": x * 2}}, X, "output ['a.b'] is a tensor on the left"),
    "a number and a text as keys": (
        lambda x: {1: x * 2, "1": x}, lambda x: {"1": x * 2, 1: x}, X, "outputs differ"),
    "None": (lambda x: (x * 2, None), lambda x: (x * 2, x), X, "output 1 is None on the left and a tensor"),
    "one more output": (plain, lambda x: (plain(x), x), X, "a tensor on the left and a tuple of 2"),
    "another number beside": (lambda x: (x, 3), lambda x: (x, 4), X, "output 1 is 3 on the left and 4 on the right"),
    "a number of another kind": (lambda x: (x, 1), lambda x: (x, True), X, "output 1 is 1 on the left and True"),
    "another order": (lambda x: (x * 2, x + 1), lambda x: (x + 1, x * 2), X, "outputs differ"),
    "the second call": (counts(2, lambda x: x), module(), X, "second call: output 0"),
    "a counter in a buffer": (counts_in_a_buffer(), counts_in_a_buffer(2), X, "seen after the"),
    "a counter that is read": (counts_in_a_buffer(read=True), counts_in_a_buffer(2, read=True), X, "outputs differ"),
    "a closure that counts": (closure_counts(1), plain, X, "second call: output 0"),
    "a global that counts": (global_counts, plain, X, "second call: output 0"),
    "a global list": (global_list, plain, X, "second call: output 0"),
    "a default that grows": (default_grows, plain, X, "second call: output 0"),
    "a class that counts": (class_counts, plain, X, "second call: output 0"),
    "a cached table that is written": (cached_table_written(), cached_table(), X, "second call: output 0"),
    "the first mean for ever": (
        Program(remembers_first, mean=None), lambda x: x - x.mean(0), X, "second call: output 0"),
    "a list that grows": (Program(grows, history=[]), lambda x: x + x.sum(0), X, "second call: output 0"),
    "how many were positive at first": (
        Program(remembers_count, count=None), lambda x: x + (x > 0).sum(), X, "second call: output 0"),
    "statistics of the batch": (nn.BatchNorm1d(3), OwnNorm(correction=0), X, "running_var after the"),
    "another momentum": (nn.BatchNorm1d(3), OwnNorm(momentum=0.2), X, "after the"),
    "statistics that stay": (nn.BatchNorm1d(3), OwnNorm(moves=False), X, "after the"),
    "training and evaluation of a norm that hides it": (
        nn.BatchNorm1d(3), nn.BatchNorm1d(3, momentum=0.0), X, "after the"),
    "the vector of a spectral norm": (spectral(), spectral(step=False), X, "u after the"),
    "a cache that stays empty": (cached(write_cache), cached(reads_without_writing), X, "cache after the"),
    "another place in the cache": (cached(write_cache), cached(write_cache, pos=2), X, "cache after the"),
    "another attribute": (
        Program(keeps_last, last_hidden=None), Program(keeps_other, last_hidden=None), X, "last_hidden after the call"),
    "Python's own counters": (
        counts(9, plain), Program(lambda self, x: plain(x), calls=0), X, "calls after the call is 1 on the left and 0"),
    "a dict that one fills": (
        lambda x, more: x * more.setdefault("times", 1), lambda x, more: x * 1, (X[0], {}), "more.times after the"),
    "another shape of the input": (
        lambda x: x.unsqueeze_(0) * 2, lambda x: x[None] * 2, X, "x after the call is float32[1, 4, 3] on the left"),
    "the other input": (
        lambda x, y: x.add_(y) * 1, lambda a, b: b.add_(a) * 1, (rows(3), rows(3, seed=1)), "outputs differ, "),
    "a hook that counts": (hooked(2), hooked(9), X, "second call: output 0"),
    "undefined memory": (
        Program(through_undefined, used=0, box=rows(2, 3) * torch.nan), lambda x: x + x.sum(0), X, "second call: "),
    "a list that one fills": (
        lambda xs: of_lists(xs, lambda xs: xs.append(xs[0] * 2)),
        lambda xs: of_lists(xs, lambda xs: None), ([rows(3), rows(3, seed=1)],), "xs.2 after the call"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_a_caller_cannot_tell_apart_is_the_same(name):
    left, right, inputs, scope = SAME[name]
    verdict = check(left, right, inputs)
    assert verdict.verdict == "same", headline(verdict).plain
    assert verdict.evidence >= Rung.PROVED_HERE and verdict.scope == scope
    assert scope in headline(verdict).plain


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_a_caller_can_tell_apart_is_different_and_named(name):
    left, right, inputs, told = DIFFERENT[name]
    verdict = check(left, right, inputs)
    assert verdict.verdict == "different" and verdict.exit_code == 1
    assert told in headline(verdict).plain


@pytest.mark.parametrize("name", ["adds in place", "a global that counts", "a closure that counts", "a list that grows",
                                  "a cache that stays empty", "a class that counts", "a list that one fills"])
def test_programs_and_inputs_are_left_as_they_were(name):
    left, right, inputs, _ = DIFFERENT[name]
    first, second = (headline(check(left, right, inputs)).plain for _ in range(2))
    assert first == second and CALLS == 0 and not DOUBLED and Counter.calls == 0 and torch.equal(X[0], rows(4, 3))


# ------------------------------------------------------------------------------------------------------------- ignoring

IGNORED = {
    "dtype": "another dtype",
    "shape": "one more dimension",
    "structure": "tuple and list",
    "values": "another number beside",
    "aliasing": "a view of the input",
    "state": "adds in place",
}


@pytest.mark.parametrize("kind", IGNORED)
def test_each_kind_of_difference_can_be_left_aside(kind):
    left, right, inputs, _ = DIFFERENT[IGNORED[kind]]
    ignored = {kind, "aliasing"} if kind == "state" else {kind}
    verdict = check(left, right, inputs, ignore=ignored)
    assert verdict.verdict == "same", headline(verdict).plain
    if kind != "state":
        assert f"{kind} aside" in headline(verdict).plain and verdict.ignored[0].text in plain_text(verdict, width=200)


def test_what_is_missing_cannot_be_left_aside():
    verdict = check(plain, lambda x: (plain(x), x), X, ignore=("structure", "shape"))
    assert verdict.verdict == "different"
    assert check(plain, lambda x: plain(x)[:2], X, ignore=("shape",)).verdict == "different"


@pytest.mark.long
def test_export_refuses_what_only_python_does_in_a_second_call():
    with pytest.raises(Refused, match=r"a second call changes calls, which torch.export does not show; record it"):
        check(counts(2, lambda x: x), module(), X, how="export")
    for how in ("export", "export+decompose"):
        assert check(counts_in_a_buffer(), counts_in_a_buffer(2), X, how=how).verdict == "different"
        assert check(counts_in_a_buffer(), counts_in_a_buffer(), X, how=how).scope == TWO


def test_another_word_for_what_to_ignore_is_refused():
    with pytest.raises(Refused, match="ignore is 'dtypes'; give structure, values, dtype, shape, aliasing, state"):
        check(plain, plain, X, ignore=("dtypes",))


# --------------------------------------------------------------------------------------------------------- what is said


def test_state_that_has_no_counterpart_is_named():
    verdict = check(counts(9, plain), Program(keeps_last, last_hidden=None), X)
    (note,) = [note for note in verdict.notes if note.startswith("Not compared")]
    assert "left.calls" in note and "right.last_hidden" in note


def test_a_second_call_that_fails_on_one_side_is_a_difference():
    def once(self, x):
        assert not self.used, "used up"
        self.used = True
        return plain(x)

    verdict = check(Program(once, used=False), module(), X)
    assert verdict.verdict == "different"
    assert "the second call raises on the left (AssertionError: used up)" in headline(verdict).plain
    both = check(Program(once, used=False), Program(once, used=False), X)
    assert (both.verdict, both.scope) == ("same", "for the first call")
    assert "A second call fails on both sides (AssertionError: used up), so one call was compared." in both.notes


def test_each_side_says_why_its_second_call_fails():
    def raises(error):
        def once(self, x):
            if self.used:
                raise error
            self.used = True
            return plain(x)
        return Program(once, used=False)

    both = check(raises(ValueError("full\nof rows")), raises(SystemExit(3)), X)
    assert (both.verdict, both.scope) == ("same", "for the first call")
    assert any("(ValueError: full, and on the right: SystemExit: 3)" in note for note in both.notes)
    one = check(plain, raises(SystemExit(3)), X)
    assert "the second call raises on the right (SystemExit: 3)" in headline(one).plain


def test_key_value_caches_are_named_where_they_are_left_out():
    transformers = pytest.importorskip("transformers")

    def program(x):
        cache = transformers.DynamicCache()
        return {"logits": plain(x), "past_key_values": cache}

    verdict = check(program, lambda x: {"logits": x + x + 1, "past_key_values": transformers.DynamicCache()}, X)
    assert verdict.verdict == "same"
    assert any(note.startswith("Not compared: past_key_values") for note in verdict.notes)


def test_backward_hooks_are_named():
    layer = nn.Linear(3, 3)
    layer.register_full_backward_hook(lambda *given: None)
    verdict = check(layer, layer, X)
    assert any(note == "Not looked at: backward hooks of left.Linear, right.Linear." for note in verdict.notes)


def test_a_model_output_is_its_tensor_its_tuple_and_its_dict():
    outputs = pytest.importorskip("transformers.modeling_outputs")
    left = lambda x: outputs.BaseModelOutput(last_hidden_state=plain(x))  # noqa: E731
    for right in (plain, lambda x: (plain(x),), lambda x: {"last_hidden_state": plain(x)}):
        assert check(left, right, X).verdict == "same"
    assert check(left, lambda x: {"hidden": plain(x)}, X).verdict == "different"


def test_a_program_may_return_nothing_and_write():
    def fill(x):
        x.mul_(2)

    def fill_otherwise(x):
        x.add_(x)

    assert check(fill, fill_otherwise, X).verdict == "same"
    assert check(fill, lambda x: None, X).verdict == "different"


def test_inputs_whose_names_look_alike_are_kept_apart():
    inputs = {"x": {"a.b": rows(3), "a": {"b": rows(3, seed=1)}}}
    left = lambda x: x["a.b"] - x["a"]["b"]  # noqa: E731
    assert check(left, lambda x: -(x["a"]["b"] - x["a.b"]), inputs).verdict == "same"
    assert check(left, lambda x: x["a"]["b"] - x["a.b"], inputs).verdict == "different"
    names = {"a-b": rows(3), "a_b": rows(3, seed=1)}
    assert check(lambda **k: k["a-b"] - k["a_b"], lambda a_b, **k: k["a-b"] - a_b, names).verdict == "same"
    assert check(lambda **k: k["a-b"] - k["a_b"], lambda a_b, **k: a_b - k["a-b"], names).verdict == "different"


def test_what_cannot_be_looked_into_is_refused():
    with pytest.raises(Refused, match=r"returns an Opaque .output 1., which is no tensor"):
        check(lambda x: (x, Opaque()), lambda x: (x, Opaque()), X)
